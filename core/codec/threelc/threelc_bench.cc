// Measures 3LC on one core and on two, compared with memcpy and zstd. Almost no normal value
// is sent at s = 1.75. The other inputs are those that error feedback produces from normal and from
// log-normal values after some rounds. One in a hundred of the latter is sent.
#include <algorithm>
#include <cstring>
#include <memory>

#include "bench/harness/harness.h"
#include "bench/harness/peers.h"
#include "core/codec/chunks.h"
#include "core/codec/registry.h"
#include "core/update/synthetic.h"

namespace tributary {
namespace {

using bench::Case;
using bench::Settings;
using bench::SharedUpdate;

constexpr double kEncodeGoal = 0.4;
constexpr double kDecodeGoal = 0.5;
constexpr double kTwoCoresGoal = 1.8;

// A codec, its payload and its decoded bucket, for the steps to measure and to check.
class Bucket {
 public:
  Bucket(const std::string& spec, SharedUpdate update) : update_(std::move(update)) {
    Result<std::unique_ptr<Codec>> codec = make_codec(spec);
    if (!codec.ok()) {
      status_ = codec.status();
      return;
    }
    codec_ = std::move(*codec);
    encoder_ = codec_->make_encoder(static_cast<std::uint32_t>(update_->size()));
    decoded_.resize(update_->size());
    sum_.assign(update_->size(), 0.0f);
    encode({});
  }

  void encode(const Execution& execution) {
    if (codec_) note(encoder_->encode({.round = {}, .execution = execution}, *update_, payload_));
  }
  void decode(const Execution& execution) {
    if (codec_) note(codec_->decode({.round = {}, .execution = execution}, payload_, decoded_));
  }
  void add(const Execution& execution) {
    if (codec_) {
      note(codec_->decode_add({.round = {}, .execution = execution}, payload_, {}, sum_));
    }
  }

  // The payload must equal that of the scalar specification.
  Status check_encoding() {
    const Bytes got = payload_;
    encode({.backend = Backend::scalar});
    return check(got == payload_, "the payload");
  }
  Status check_decoding() {
    const FloatVector got = decoded_;
    decode({.backend = Backend::scalar});
    return check(same(got, decoded_), "the decoded bucket");
  }
  Status check_sum() {
    decode({.backend = Backend::scalar});
    std::ranges::fill(sum_, 0.0f);
    add({});
    return check(same(sum_, decoded_), "the sum");
  }

 private:
  static bool same(const FloatVector& a, const FloatVector& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
  }
  Status check(bool right, const char* what) {
    if (!right) note(Status(StatusCode::mismatch, {.what = what, .expected = "the scalar one"}));
    return status_;
  }
  void note(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  SharedUpdate update_;
  std::unique_ptr<Codec> codec_;
  std::unique_ptr<Encoder> encoder_;
  Bytes payload_;
  FloatVector decoded_;
  FloatVector sum_;
  Status status_;
};

// The input of an encoder after some rounds with the same update. A part of the update is repeated.
SharedUpdate fed_update(const SharedUpdate& update, const std::string& spec) {
  constexpr int kRounds = 80;
  const std::size_t values = std::min<std::size_t>(update->size(), 1u << 20);
  const FloatVector raw(update->begin(), update->begin() + static_cast<std::ptrdiff_t>(values));
  FloatVector sent = raw;
  FloatVector decoded(values);
  Bytes payload;
  const Result<std::unique_ptr<Codec>> codec = make_codec(spec);
  if (!codec.ok()) return update;  // the cases report the error
  const auto encoder = (*codec)->make_encoder(static_cast<std::uint32_t>(values));
  for (int round = 0; round < kRounds; ++round) {
    ignore_error(encoder->encode({.round = {}}, sent, payload));
    ignore_error((*codec)->decode({.round = {}}, payload, decoded));
    for (std::size_t i = 0; i < values; ++i) sent[i] = raw[i] + (sent[i] - decoded[i]);
  }
  auto all = std::make_shared<FloatVector>(update->size());
  for (std::size_t i = 0; i < all->size(); ++i) (*all)[i] = sent[i % values];
  return all;
}

// The memory bandwidth that two cores can reach.
Case memcpy_on_two_cores(const SharedUpdate& update) {
  const auto copy = std::make_shared<FloatVector>(update->size());
  const auto pool = std::make_shared<ThreadPool>(2);
  const auto run = [update, copy, pool] {
    for_each_chunk({.pool = pool.get()}, update->size(), 4 * kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     std::memcpy(copy->data() + begin, update->data() + begin,
                                 (end - begin) * sizeof(float));
                   });
  };
  const auto check = [update, copy] {
    return *update == *copy ? Status()
                            : Status(StatusCode::mismatch, {.what = "the copy", .expected = "it"});
  };
  return {.name = "memcpy, 2 cores",
          .bytes = static_cast<double>(update->size() * sizeof(float)),
          .run = run,
          .check = check,
          .goals = {{.peer = "memcpy"}}};
}

struct Goals {
  double encode = 0;
  double decode = 0;
};

void add_cases(const std::string& name, const std::string& spec, const SharedUpdate& update,
               const Goals& goals, std::vector<Case>& cases) {
  const auto bucket = std::make_shared<Bucket>(spec, update);
  const auto bytes = static_cast<double>(update->size() * sizeof(float));
  cases.push_back({.name = name + " encode",
                   .bytes = bytes,
                   .run = [bucket] { bucket->encode({}); },
                   .check = [bucket] { return bucket->check_encoding(); },
                   .goals = {{.peer = "memcpy", .ratio_min = goals.encode}}});
  cases.push_back({.name = name + " decode",
                   .bytes = bytes,
                   .run = [bucket] { bucket->decode({}); },
                   .check = [bucket] { return bucket->check_decoding(); },
                   .goals = {{.peer = "memcpy", .ratio_min = goals.decode}}});
  cases.push_back({.name = name + " add",
                   .bytes = bytes,
                   .run = [bucket] { bucket->add({}); },
                   .check = [bucket] { return bucket->check_sum(); },
                   .goals = {{.peer = "memcpy"}}});
}

void add_two_core_cases(const std::string& name, const std::string& spec,
                        const SharedUpdate& update, std::vector<Case>& cases) {
  const auto bucket = std::make_shared<Bucket>(spec, update);
  const auto pool = std::make_shared<ThreadPool>(2);
  const auto bytes = static_cast<double>(update->size() * sizeof(float));
  cases.push_back({.name = name + " encode, 2 cores",
                   .bytes = bytes,
                   .run = [bucket, pool] { bucket->encode({.pool = pool.get()}); },
                   .check = [bucket] { return bucket->check_encoding(); },
                   .goals = {{.peer = name + " encode", .ratio_min = kTwoCoresGoal}}});
  cases.push_back({.name = name + " decode, 2 cores",
                   .bytes = bytes,
                   .run = [bucket, pool] { bucket->decode({.pool = pool.get()}); },
                   .check = [bucket] { return bucket->check_decoding(); },
                   .goals = {{.peer = name + " decode", .ratio_min = kTwoCoresGoal}}});
}

std::vector<Case> threelc_cases(const Settings& settings) {
  const std::string spec = "threelc:s=1.75";
  const Goals goals = {.encode = kEncodeGoal, .decode = kDecodeGoal};
  const SharedUpdate normal = bench::normal_update(settings.bucket_bytes);
  auto lognormal = std::make_shared<FloatVector>(normal->size());
  fill_lognormal_gradient({.job_seed = 1, .purpose = DrawPurpose::synthetic_data}, 1.0f,
                          *lognormal);
  const SharedUpdate fed = fed_update(normal, spec);
  std::vector<Case> cases;
  cases.push_back(bench::memcpy_case(normal));
  cases.push_back(memcpy_on_two_cores(normal));
  cases.push_back(bench::zstd_encode_case(normal, 1));
  cases.push_back(bench::zstd_decode_case(normal, 1));
  add_cases("s=1.75, normal", spec, normal, goals, cases);
  add_two_core_cases("s=1.75, normal", spec, normal, cases);
  add_cases("s=1.75, fed back", spec, fed, goals, cases);
  add_two_core_cases("s=1.75, fed back", spec, fed, cases);
  add_cases("s=1.75, log-normal fed back", spec, fed_update(lognormal, spec), goals, cases);
  add_cases("s=1, fed back", "threelc", fed_update(normal, "threelc"), {}, cases);
  add_cases("no zero runs, fed back", "threelc:s=1.75,zero_run=off", fed, {}, cases);
  add_cases("stoch3, normal", "stoch3", normal, {}, cases);
  add_cases("terngrad, normal", "terngrad", normal, {}, cases);
  return cases;
}

const bench::Registration kThreelc({.name = "codec.threelc",
                                    .about = "3LC and its like, one core and two",
                                    .build = threelc_cases});

}  // namespace
}  // namespace tributary
