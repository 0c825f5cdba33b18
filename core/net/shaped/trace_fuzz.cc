// Fuzz target: a trace that parses has a step for every time.
#include <cstdlib>

#include "core/net/shaped/trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto require = [](bool condition) {
    if (!condition) std::abort();
  };
  const Result<LinkTrace> trace = LinkTrace::parse({reinterpret_cast<const char*>(data), size});
  if (!trace.ok()) return 0;
  std::chrono::nanoseconds begins{0};
  for (const TraceStep& step : trace->steps()) {
    require(trace->at(begins) == step);
    begins += step.lasts;
    require(trace->at(begins - std::chrono::nanoseconds(1)) == step);
    require(Shaper::make({.delay = step.delay, .bytes_per_s = step.bytes_per_s, .loss = step.loss})
                .ok());
  }
  require(begins == trace->lasts());
  require(trace->at(begins) == trace->steps().front());
  return 0;
}
