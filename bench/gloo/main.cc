// tributary-bench-gloo: one rank of gloo's all-reduce over TCP.
#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>

#include "bench/rank.h"

namespace tributary::bench {
namespace {

struct Arguments {
  RankSettings settings;
  std::string store;
  std::string algorithm = "segmented_ring";
  std::uint32_t timeout_s = 60;
  bool json = false;
};

using Context = std::shared_ptr<::gloo::Context>;
using Step = std::function<void(FloatVector& update)>;

// An algorithm of gloo's older interface. Its classes are bound to their buffers, so a new buffer
// needs a new object.
template <template <typename> class Algorithm>
Step class_step(const Context& context) {
  struct State {
    FloatVector* of = nullptr;
    std::unique_ptr<Algorithm<float>> algorithm;
  };
  const auto state = std::make_shared<State>();
  return [=](FloatVector& update) {
    if (state->of != &update) {
      state->of = &update;
      state->algorithm = std::make_unique<Algorithm<float>>(
          context, std::vector<float*>{update.data()}, static_cast<int>(update.size()));
    }
    state->algorithm->run();
  };
}

// An algorithm of gloo's newer interface, which PyTorch uses.
Step function_step(const Context& context, ::gloo::AllreduceOptions::Algorithm algorithm) {
  return [=](FloatVector& update) {
    ::gloo::AllreduceOptions options(context);
    options.setAlgorithm(algorithm);
    options.setOutput(update.data(), update.size());
    options.setReduceFunction([](void* to, const void* a, const void* b, std::size_t count) {
      ::gloo::sum<float>(to, a, b, count);
    });
    ::gloo::allreduce(options);
  };
}

struct Named {
  const char* name;
  Step (*make)(const Context& context);
};

constexpr Named kAlgorithms[] = {
    {"ring", class_step<::gloo::AllreduceRing>},
    {"ring_chunked", class_step<::gloo::AllreduceRingChunked>},
    {"halving_doubling", class_step<::gloo::AllreduceHalvingDoubling>},
    {"bcube", class_step<::gloo::AllreduceBcube>},
    {"segmented_ring",
     [](const Context& context) {
       return function_step(context, ::gloo::AllreduceOptions::Algorithm::RING);
     }},
    {"segmented_bcube",
     [](const Context& context) {
       return function_step(context, ::gloo::AllreduceOptions::Algorithm::BCUBE);
     }},
};

// Connects all ranks with one another; they meet through files.
Context connected(const Arguments& arguments) {
  ::gloo::rendezvous::FileStore store(arguments.store);
  const ::gloo::transport::tcp::attr attr(arguments.settings.address.c_str());
  auto device = ::gloo::transport::tcp::CreateDevice(attr);
  auto context = std::make_shared<::gloo::rendezvous::Context>(
      static_cast<int>(arguments.settings.rank), static_cast<int>(arguments.settings.size));
  context->setTimeout(std::chrono::seconds(arguments.timeout_s));
  context->connectFullMesh(store, device);
  return context;
}

Result<RankFigures> measure(const Arguments& arguments) {
  const Context context = connected(arguments);
  Step step;
  for (const Named& one : kAlgorithms) {
    if (arguments.algorithm == one.name) step = one.make(context);
  }
  const Exchange exchange = {.barrier = [=]() -> Status {
                               ::gloo::BarrierOptions options(context);
                               ::gloo::barrier(options);
                               return {};
                             },
                             .all_reduce = [=](FloatVector& update) -> Status {
                               step(update);
                               return {};
                             }};
  return measure_rank(arguments.settings, exchange);
}

void add_options(CLI::App& app, Arguments& arguments) {
  std::vector<std::string> names;
  for (const Named& one : kAlgorithms) names.emplace_back(one.name);
  RankSettings& settings = arguments.settings;
  app.add_option("--rank", settings.rank, "number of this rank, from 0")->required();
  app.add_option("--size", settings.size, "number of ranks")
      ->required()
      ->check(CLI::Range(1u, 1000u));
  app.add_option("--store", arguments.store,
                 "folder in which the ranks find one another; shared, empty before\n"
                 "a run")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--address", settings.address, "IP address to listen on")->required();
  app.add_option("--algorithm", arguments.algorithm,
                 "gloo's classes ring, ring_chunked, halving_doubling and bcube, or\n"
                 "its newer function as segmented_ring or segmented_bcube\n"
                 "(segmented_ring)")
      ->check(CLI::IsMember(names));
  app.add_option("--bytes", settings.bytes, "size of an update in bytes of float32 (26214400)")
      ->check(CLI::Range(std::uint64_t{4}, std::uint64_t{1} << 32));
  app.add_option("--rounds", settings.rounds, "number of timed rounds (10)")
      ->check(CLI::Range(1u, 100000u));
  app.add_option("--warm-ups", settings.warm_ups, "number of untimed rounds before them (2)")
      ->check(CLI::Range(0u, 1000u));
  app.add_option("--timeout-s", arguments.timeout_s, "limit of each wait of gloo in seconds (60)")
      ->check(CLI::Range(1u, 3600u));
  app.add_flag("--json", arguments.json, "print one JSON object instead of text");
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "runs one rank of gloo's all-reduce of float32 over TCP; the sum of each round is verified");
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
    if (arguments.settings.rank >= arguments.settings.size) {
      throw CLI::ValidationError("--rank", "must be less than --size");
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    const Result<RankFigures> figures = measure(arguments);
    if (!figures.ok()) {
      fmt::print(stderr, "tributary-bench-gloo: {}\n", figures.status().text());
      return 1;
    }
    const auto text = arguments.json ? figures_json : figures_text;
    fmt::print("{}", text("gloo", arguments.algorithm, arguments.settings, *figures));
    return 0;
  } catch (const std::exception& error) {  // gloo reports errors by exceptions
    fmt::print(stderr, "tributary-bench-gloo: {}\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace tributary::bench

int main(int argc, char** argv) { return tributary::bench::run(argc, argv); }
