// Measures encode, aggregate and decode of one bucket on one core and on two: the loops of an agent
// and a coordinator with `threads = 1` and `threads = 2`, pinned to these cores.
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/harness.h"
#include "bench/harness/peers.h"
#include "core/base/thread_pool.h"
#include "core/codec/lone_codec_testing.h"

namespace tributary {
namespace {

using bench::Case;
using bench::Settings;
using bench_testing::Lone;

constexpr std::array<const char*, 3> kThreadedCodecs = {"thc:bits=4", "gcomp", "threelc"};
constexpr std::size_t kCores = 2;
constexpr std::size_t kCopiedAtOnce = 1u << 16;  // values

// Pins the caller's thread, and the threads that it starts from now on, to the first `count`
// processors on which the program may run. With fewer processors it does nothing.
void pin_to(std::size_t count, const cpu_set_t& allowed) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE && count > 0; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    CPU_SET(cpu, &cores);
    --count;
  }
  if (count == 0) sched_setaffinity(0, sizeof(cores), &cores);
}

// A pool whose threads are pinned to as many cores. Its loops are to be run by a thread that is
// pinned to them, too.
struct PinnedPool {
  explicit PinnedPool(std::size_t cores) : count(cores) {
    sched_getaffinity(0, sizeof(allowed), &allowed);
    pin();
    pool = std::make_unique<ThreadPool>(cores);
    sched_setaffinity(0, sizeof(allowed), &allowed);
  }
  void pin() const { pin_to(count, allowed); }

  std::size_t count;
  cpu_set_t allowed = {};
  std::unique_ptr<ThreadPool> pool;
};

std::string on_cores(const std::string& step, std::size_t cores) {
  return step + (cores == 1 ? ", 1 core" : ", 2 cores");
}

// The memory's rate on these cores, for a step that reads the update once and writes as much.
Case copy_case(const bench::SharedUpdate& update, const std::shared_ptr<PinnedPool>& pinned) {
  const auto copy = std::make_shared<FloatVector>(update->size());
  const auto run = [=] {
    pinned->pin();
    const std::size_t blocks = (update->size() + kCopiedAtOnce - 1) / kCopiedAtOnce;
    pinned->pool->parallel_for(blocks, [&](std::size_t block) {
      const std::size_t first = block * kCopiedAtOnce;
      const std::size_t values = std::min(kCopiedAtOnce, update->size() - first);
      std::memcpy(copy->data() + first, update->data() + first, values * sizeof(float));
    });
  };
  return {.name = on_cores("memcpy", pinned->count),
          .bytes = static_cast<double>(update->size() * sizeof(float)),
          .run = run,
          .check = [=]() -> Status {
            if (*copy == *update) return {};
            return Status(StatusCode::mismatch, {.what = "copy", .expected = "the update"});
          }};
}

void add_steps(const std::string& spec, const bench::SharedUpdate& update,
               const std::shared_ptr<PinnedPool>& pinned, std::vector<Case>& cases) {
  const auto lone = std::make_shared<Lone>(spec, *update, pinned->pool.get());
  const auto add = [&](const std::string& step, auto run, std::function<Status()> check) {
    Case made{.name = on_cores(spec + " " + step, pinned->count),
              .bytes = static_cast<double>(update->size() * sizeof(float)),
              .run =
                  [=] {
                    pinned->pin();
                    run(*lone);
                  },
              .check = std::move(check),
              .goals = {{.peer = on_cores("memcpy", pinned->count)}}};
    if (pinned->count > 1) made.goals.push_back({.peer = on_cores(spec + " " + step, 1)});
    cases.push_back(std::move(made));
  };
  add(
      "encode", [](Lone& codec) { codec.encode(Backend::simd); },
      [lone] { return lone->check_encoding(); });
  add(
      "aggregate", [](Lone& codec) { codec.aggregate(); },
      [lone] { return lone->check_aggregate(); });
  add(
      "decode", [](Lone& codec) { codec.decode(); }, [lone] { return lone->check_decoding(); });
}

std::vector<Case> threads_cases(const Settings& settings) {
  const bench::SharedUpdate update = bench::normal_update(settings.bucket_bytes);
  std::vector<std::shared_ptr<PinnedPool>> pools;
  for (std::size_t cores = 1; cores <= kCores; ++cores) {
    pools.push_back(std::make_shared<PinnedPool>(cores));
  }
  std::vector<Case> cases;
  for (const auto& pinned : pools) cases.push_back(copy_case(update, pinned));
  for (const char* spec : kThreadedCodecs) {
    for (const auto& pinned : pools) add_steps(spec, update, pinned, cases);
  }
  return cases;
}

const bench::Registration kThreads(
    {.name = "threads",
     .about = "encode, aggregate and decode on one core and on two; --bytes 104857600 for 25 Mi "
              "values",
     .build = threads_cases});

}  // namespace
}  // namespace tributary
