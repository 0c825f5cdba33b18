// Measures every codec of the registry on one core: encode (all stages), aggregate and decode,
// compared with memcpy.
#include <cstring>
#include <map>
#include <memory>

#include "bench/harness/harness.h"
#include "bench/harness/peers.h"
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
  Lone(const std::string& spec, const FloatVector& update) : update_(update) {
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
    return {.round = kCodecRound, .execution = {.backend = backend}, .combined = combined_};
  }
  static Status wrong(std::string what, std::string expected) {
    return Status(StatusCode::mismatch, {.what = std::move(what), .expected = std::move(expected)});
  }
  void note(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  const FloatVector& update_;
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

}  // namespace
}  // namespace tributary
