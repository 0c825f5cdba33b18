// Measures GComp on one core and on two, without truncation and by the metric, compared with memcpy
// and zstd.
#include <bit>
#include <cmath>
#include <memory>

#include "bench/harness/harness.h"
#include "bench/harness/peers.h"
#include "core/codec/optimizer_view.h"
#include "core/codec/registry.h"

namespace tributary {
namespace {

using bench::Case;
using bench::Goal;
using bench::Settings;
using bench::SharedUpdate;

enum class With { nothing, sgd, adamw };

// One codec with one update, and with an optimizer's state for the metric.
class Bench {
 public:
  Bench(const std::string& spec, const SharedUpdate& update, With with, std::size_t threads)
      : update_(update), pool_(threads) {
    Result<std::unique_ptr<Codec>> codec = make_codec(spec);
    if (!codec.ok()) {
      status_ = codec.status();
      return;
    }
    codec_ = std::move(*codec);
    encoder_ = codec_->make_encoder(values());
    decoded_.resize(update->size());
    if (with == With::nothing) return;
    parameters_.resize(update->size());
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      parameters_[i] = (*update)[(i + 12345) % parameters_.size()];
    }
    view_.parameters = parameters_;
    view_.learning_rate = 1e-4f;
    if (with == With::adamw) set_adamw();
  }

  void encode() { note(encoder_->encode(call(Backend::simd), *update_, payload_)); }
  void decode() { note(codec_->decode(call(Backend::simd), payload_, decoded_)); }

  // The payload must equal that of the scalar version, with the codebook of the first round.
  Status check_encoding() {
    Bytes expected;
    note(codec_->make_encoder(values())->encode(call(Backend::scalar), *update_, expected));
    if (expected != payload_) note(wrong("payload"));
    return status_;
  }
  Status check_decoding() {
    for (std::size_t i = 0; i < decoded_.size() && status_.ok(); ++i) {
      const float truth = (*update_)[i];
      const float error = std::abs(truth - decoded_[i]);
      // Truncation removes at most 18 of 23 bits.
      const bool sound = codec_->lossy() ? error < std::abs(truth) * 0x1p-5f || error == 0
                                         : std::bit_cast<std::uint32_t>(truth) ==
                                               std::bit_cast<std::uint32_t>(decoded_[i]);
      if (!sound) note(wrong("decoded value " + std::to_string(i)));
    }
    return status_;
  }

 private:
  std::uint32_t values() const { return static_cast<std::uint32_t>(update_->size()); }

  void set_adamw() {
    squares_.resize(update_->size());
    for (std::size_t i = 0; i < squares_.size(); ++i) {
      squares_[i] = parameters_[i] * parameters_[i];
    }
    view_.kind = OptimizerKind::adamw;
    view_.weight_decay = 0.01f;
    view_.beta1 = 0.9f;
    view_.beta2 = 0.999f;
    view_.epsilon = 1e-8f;
    view_.step = 100;
    view_.first_moment = parameters_;
    view_.second_moment = squares_;
  }

  StageCall call(Backend backend) {
    return {.round = {.job_seed = 1, .round = 2},
            .execution = {.backend = backend, .pool = &pool_},
            .optimizer = parameters_.empty() ? nullptr : &view_};
  }
  static Status wrong(std::string what) {
    return Status(StatusCode::mismatch, {.what = std::move(what), .expected = "another"});
  }
  void note(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  SharedUpdate update_;
  ThreadPool pool_;
  std::unique_ptr<Codec> codec_;
  std::unique_ptr<Encoder> encoder_;
  FloatVector parameters_;
  FloatVector squares_;
  OptimizerView view_;
  FloatVector decoded_;
  Bytes payload_;
  Status status_;
};

// Collects the cases of the benchmark, with their targets relative to memcpy and zstd.
class Cases {
 public:
  explicit Cases(const Settings& settings)
      : update_(bench::normal_update(settings.bucket_bytes)),
        bytes_(static_cast<double>(settings.bucket_bytes)) {
    all.push_back(bench::memcpy_case(update_));
    all.push_back(bench::zstd_encode_case(update_, 1));
    all.push_back(bench::zstd_decode_case(update_, 1));
  }

  void add(const std::string& name, const std::string& spec, With with) {
    const auto one = std::make_shared<Bench>(spec, update_, with, 1);
    const auto two = std::make_shared<Bench>(spec, update_, with, 2);
    add_pair(name, one, {{"memcpy", 0.25}, {"zstd -1 encode", 2}},
             {{"memcpy", 0.5}, {"zstd -1 decode", 3}});
    add_pair(name + ", 2 threads", two, {{name + " encode", 1.8}}, {{name + " decode", 1.8}});
  }

  std::vector<Case> all;

 private:
  void add_pair(const std::string& name, const std::shared_ptr<Bench>& bench,
                std::vector<Goal> encode_goals, std::vector<Goal> decode_goals) {
    all.push_back({.name = name + " encode",
                   .bytes = bytes_,
                   .run = [bench] { bench->encode(); },
                   .check = [bench] { return bench->check_encoding(); },
                   .goals = std::move(encode_goals)});
    all.push_back({.name = name + " decode",
                   .bytes = bytes_,
                   .run = [bench] { bench->decode(); },
                   .check = [bench] { return bench->check_decoding(); },
                   .goals = std::move(decode_goals)});
  }

  SharedUpdate update_;
  double bytes_;
};

std::vector<Case> gcomp_cases(const Settings& settings) {
  Cases cases(settings);
  cases.add("lossless", "gcomp:truncation=none", With::nothing);
  cases.add("by SGD", "gcomp:truncation=metric", With::sgd);
  cases.add("by AdamW", "gcomp:truncation=metric", With::adamw);
  cases.add("feedback", "gcomp", With::adamw);
  return std::move(cases.all);
}

const bench::Registration kGComp({.name = "codec.gcomp",
                                  .about = "GComp, 64 MiB unless told otherwise",
                                  .build = gcomp_cases});

}  // namespace
}  // namespace tributary
