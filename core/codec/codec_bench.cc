// Measures every codec of the registry on one core: encode (all stages), aggregate and decode,
// compared with memcpy. Then some codecs on one core and on two, which an agent and a coordinator
// use with `threads = 1` and `threads = 2`.
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
#include "core/codec/payload.h"
#include "core/codec/registry.h"

namespace tributary {
namespace {

using bench::Case;
using bench::Goal;
using bench::Settings;

constexpr RoundContext kCodecRound = {.job_seed = 1, .round = 2, .bucket = 3};

// Runs all stages for a single agent, so that each step can be timed on its own.
class Lone {
 public:
  // `update` and `pool` must outlive the object. A null pool runs all on the caller's thread.
  Lone(const std::string& spec, const FloatVector& update, ThreadPool* pool = nullptr)
      : update_(update), pool_(pool) {
    Result<std::unique_ptr<Codec>> codec = make_codec(spec);
    if (!codec.ok()) {
      status_ = codec.status();
      return;
    }
    codec_ = std::move(*codec);
    const auto values = static_cast<std::uint32_t>(update.size());
    encoder_ = codec_->make_encoder(values);
    aggregator_ = codec_->make_aggregator(codec_->stages().size() - 1, values);
    decoded_.resize(values);
    payloads_.resize(codec_->stages().size());
  }

  bool usable() const { return codec_ != nullptr; }
  const Codec& codec() const { return *codec_; }

  // With a single agent, the combined payload of a stage is that agent's payload, for every
  // operation.
  void encode(Backend backend) {
    combined_.clear();
    for (Bytes& payload : payloads_) {
      note(encoder_->encode(call(backend), update_, payload));
      combined_.emplace_back(payload);
    }
    combined_.pop_back();
  }
  void begin_aggregate() { note(aggregator_->begin(call(Backend::simd), {})); }
  void aggregate() {
    begin_aggregate();
    note(aggregator_->add(call(Backend::simd), payloads_.back()));
  }
  void decode() { note(codec_->decode(call(Backend::simd), payloads_.back(), decoded_)); }

  // Checks the SIMD payload against the scalar one, which is the specification. Encoders may
  // remember earlier rounds, so both start with a new encoder.
  Status check_encoding() {
    encode_anew(Backend::scalar);
    const std::vector<Bytes> scalar = payloads_;
    encode_anew(Backend::simd);
    if (scalar != payloads_) note(wrong("the payload", "the scalar version's bytes"));
    return status_;
  }
  // Compares the decoded bucket with that of the scalar version.
  Status check_decoding() {
    const FloatVector simd = decoded_;
    note(codec_->decode(call(Backend::scalar), payloads_.back(), decoded_));
    if (std::memcmp(simd.data(), decoded_.data(), simd.size() * sizeof(float)) != 0) {
      note(wrong("the decoded bucket", "the scalar version's values"));
    }
    return status_;
  }
  Status check_aggregate() {
    if (aggregator_->contributors() != 1) note(wrong("the aggregate", "one contributor"));
    return status_;
  }

 private:
  void encode_anew(Backend backend) {
    encoder_ = codec_->make_encoder(static_cast<std::uint32_t>(update_.size()));
    encode(backend);
  }
  StageCall call(Backend backend) const {
    return {.round = kCodecRound,
            .execution = {.backend = backend, .pool = pool_},
            .combined = combined_};
  }
  static Status wrong(std::string what, std::string expected) {
    return Status(StatusCode::mismatch, {.what = std::move(what), .expected = std::move(expected)});
  }
  void note(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  const FloatVector& update_;
  ThreadPool* const pool_;
  std::unique_ptr<Codec> codec_;
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<Aggregator> aggregator_;
  FloatVector decoded_;
  std::vector<Bytes> payloads_;
  std::vector<ByteSpan> combined_;
  Status status_;
};

// The target rate as a share of memcpy's, for the codecs that have one. All others are reported
// without a target (0).
double goal_of(std::string_view family) {
  return family == "fp16" || family == "bf16" || family == "int8" ? 0.5 : 0;
}

std::vector<Case> codec_cases(const Settings& settings) {
  const bench::SharedUpdate update = bench::normal_update(settings.bucket_bytes);
  const auto bytes = static_cast<double>(settings.bucket_bytes);
  std::vector<Case> cases;
  cases.push_back(bench::memcpy_case(update));
  cases.push_back(bench::zstd_encode_case(update, 1));
  cases.push_back(bench::zstd_decode_case(update, 1));
  for (const CodecFamily& family : codec_families()) {
    const auto lone = std::make_shared<Lone>(std::string(family.name), *update);
    const std::string name(family.name);
    const std::vector<Goal> goals = {{.peer = "memcpy", .ratio_min = goal_of(name)}};
    cases.push_back({.name = name + " encode",
                     .bytes = bytes,
                     .run = [lone, update] { lone->encode(Backend::simd); },
                     .check = [lone] { return lone->check_encoding(); },
                     .goals = goals});
    cases.push_back({.name = name + " aggregate",
                     .bytes = bytes,
                     .run = [lone] { lone->aggregate(); },
                     .check = [lone] { return lone->check_aggregate(); },
                     .goals = {{.peer = "memcpy"}}});
    cases.push_back({.name = name + " decode",
                     .bytes = bytes,
                     .run = [lone] { lone->decode(); },
                     .check = [lone] { return lone->check_decoding(); },
                     .goals = goals});
  }
  return cases;
}

const bench::Registration kCodec({.name = "codec",
                                  .about = "every codec on one core, 64 MiB unless told otherwise",
                                  .build = codec_cases});

// --- threads -----------------------------------------------------------------------------------

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
  const auto add = [&](const std::string& step, auto run, const std::function<Status()>& check) {
    Case made{.name = on_cores(spec + " " + step, pinned->count),
              .bytes = static_cast<double>(update->size() * sizeof(float)),
              .run =
                  [=] {
                    pinned->pin();
                    run(*lone);
                  },
              .check = check,
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
