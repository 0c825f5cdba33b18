// Runs a codec for a single agent, so that a benchmark can time each step on its own. Its answers
// are compared with those of the scalar version on one thread. Not thread-safe.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/thread_pool.h"
#include "core/codec/codec.h"
#include "core/codec/registry.h"

namespace tributary::bench_testing {

inline constexpr RoundContext kCodecRound = {.job_seed = 1, .round = 2, .bucket = 3};

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

}  // namespace tributary::bench_testing
