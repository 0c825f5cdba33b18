// Fuzz target: any text gives an error, or inputs that write back to an equal text and that
// decide() accepts.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/plan/decide.h"
#include "core/plan/inputs_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const Result<PlanInputs> inputs = parse_plan_inputs({reinterpret_cast<const char*>(data), size});
  if (!inputs.ok()) return 0;
  const std::string text = text_of(*inputs);
  const Result<PlanInputs> again = parse_plan_inputs(text);
  if (!again.ok() || text_of(*again) != text) std::abort();
  if (inputs->agents.size() * inputs->codecs.size() > 100) return 0;  // slow without new coverage
  const Result<PlanDecision> decision =
      decide(*inputs, {.ratios = 3, .population = 8, .generations = 1});
  if (!decision.ok() || decision->reason.empty()) std::abort();
  return 0;
}
