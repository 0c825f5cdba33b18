#include "core/codec/cuda/gpu/thc_cases.h"

#include <algorithm>
#include <memory>

#include "core/codec/cuda/thc/thc.h"
#include "core/codec/payload.h"
#include "core/codec/registry.h"
#include "core/codec/thc/body.h"

namespace tributary::cuda {
namespace {

constexpr std::uint32_t kThcAgents = 4;

// The round of one update that all agents have, on the host.
struct ThcRound {
  RoundContext round = {.job_seed = 3, .bucket = 5, .agents = kThcAgents};
  thc::BlockFormat format;
  thc::Rounding rounding;
  std::unique_ptr<Codec> codec;
  Bytes norms;   // payload of stage 0
  Bytes levels;  // of stage 1, of agent 0
  Bytes sums;    // of stage 1, of all agents
};

StageCall stage_call(const ThcRound& host, std::span<const ByteSpan> combined,
                     std::uint32_t agent) {
  StageCall call = {.round = host.round, .execution = {}, .combined = combined};
  call.round.agent = agent;
  return call;
}

Result<ThcRound> play_thc(const FloatVector& update) {
  ThcRound host;
  const StreamKey draws = stream_key({.job_seed = host.round.job_seed,
                                      .bucket = host.round.bucket,
                                      .purpose = DrawPurpose::rounding});
  host.rounding = thc::correlated_rounding(draws, 0, kThcAgents);
  host.format.signs = stream_key({.job_seed = host.round.job_seed,
                                  .bucket = host.round.bucket,
                                  .purpose = DrawPurpose::hadamard_sign});
  TRIBUTARY_ASSIGN(host.codec, make_codec("thc"));
  const auto n = static_cast<std::uint32_t>(update.size());
  const auto encoder = host.codec->make_encoder(n);
  const auto aggregator = host.codec->make_aggregator(1, n);
  TRIBUTARY_TRY(encoder->encode(stage_call(host, {}, 0), update, host.norms));
  const ByteSpan combined[] = {host.norms};
  TRIBUTARY_TRY(aggregator->begin(stage_call(host, combined, 0), {}));
  for (std::uint32_t agent = 0; agent < kThcAgents; ++agent) {
    Bytes payload;
    TRIBUTARY_TRY(encoder->encode(stage_call(host, combined, agent), update, payload));
    TRIBUTARY_TRY(aggregator->add(stage_call(host, combined, agent), payload));
    if (agent == 0) host.levels = std::move(payload);
  }
  TRIBUTARY_TRY(aggregator->finish(stage_call(host, combined, 0), host.sums));
  return host;
}

// The bytes of a payload after its headers.
Result<ByteSpan> thc_body(const ThcRound& host, std::size_t stage, std::size_t values,
                          const Bytes& payload) {
  TRIBUTARY_ASSIGN(const OpenPayload open,
                   open_payload_of(*host.codec, stage, values, {}, payload));
  return open.body.subspan(stage == 0 ? 0 : thc::kStampBytes);
}

struct ThcArrays {
  FloatVector update;
  ThcRound host;
  ThcBlocks blocks;
  thc::Rounding rounding;
  DeviceArray<float> x;
  DeviceArray<float> norms;
  DeviceArray<ThcRun> level_run;
  DeviceArray<ThcRun> sum_run;
  DeviceArray<std::uint8_t> fields;
  DeviceArray<std::uint8_t> sums;
  DeviceArray<float> back;
  DeviceArray<std::uint32_t> not_finite;
  DeviceArray<ThcFlags> flags;

  Status start_norms(const Queue& queue) {
    return find_norms(queue, x.data(), blocks, norms.data(), not_finite.data());
  }
  Status start_levels(const Queue& queue) {
    return encode_levels(queue, x.data(), blocks, norms.data(),
                         {level_run.data(), nullptr, nullptr}, rounding, nullptr, fields.data());
  }
  Status start_decode(const Queue& queue) {
    return decode_fields(
        queue, sums.data(), blocks, norms.data(), {sum_run.data(), nullptr, nullptr},
        {.sums = true, .contributors = kThcAgents}, nullptr, back.data(), flags.data());
  }

  Status check_norms(const Queue& queue) const {
    return check(queue, norms, 0, host.norms, "THC norms");
  }
  Status check_levels(const Queue& queue) const {
    return check(queue, fields, 1, host.levels, "THC levels");
  }
  Status check_decoded(const Queue& queue) const {
    FloatVector expected(update.size());
    FloatVector got(update.size());
    const ByteSpan combined[] = {host.norms};
    TRIBUTARY_TRY(host.codec->decode(stage_call(host, combined, 0), host.sums, expected));
    TRIBUTARY_TRY(back.read(queue, got));
    return same_as_specified(std::ranges::equal(expected, got), "decoded THC sums");
  }

 private:
  template <typename T>
  Status check(const Queue& queue, const DeviceArray<T>& array, std::size_t stage,
               const Bytes& payload, const char* what) const {
    TRIBUTARY_ASSIGN(const ByteSpan expected, thc_body(host, stage, update.size(), payload));
    RawVector<T> got(array.size());
    TRIBUTARY_TRY(array.read(queue, got));
    const ByteSpan bytes(reinterpret_cast<const std::uint8_t*>(got.data()), got.size() * sizeof(T));
    return same_as_specified(std::ranges::equal(bytes, expected), what);
  }
};

Result<std::shared_ptr<ThcArrays>> thc_arrays(const FloatVector& update) {
  TRIBUTARY_ASSIGN(ThcRound host, play_thc(update));
  TRIBUTARY_ASSIGN(const auto levels, thc::levels_for({.agents = kThcAgents}));
  const std::size_t n = update.size();
  const ThcBlocks blocks = ThcBlocks::of(host.format, n);
  const ThcRun level_run[] = {ThcRun::of(blocks, *levels, levels->bits, 0)};
  const ThcRun sum_run[] = {ThcRun::of(blocks, *levels, levels->sum_bits_of(kThcAgents), 0)};
  TRIBUTARY_ASSIGN(const ByteSpan fields, thc_body(host, 1, n, host.levels));
  TRIBUTARY_ASSIGN(const ByteSpan sums, thc_body(host, 1, n, host.sums));
  TRIBUTARY_ASSIGN(const Queue queue, Queue::make());
  TRIBUTARY_ASSIGN(auto x, DeviceArray<float>::copy_of(queue, update));
  TRIBUTARY_ASSIGN(auto norms, DeviceArray<float>::make(blocks.blocks()));
  TRIBUTARY_ASSIGN(auto first_run, DeviceArray<ThcRun>::copy_of(queue, level_run));
  TRIBUTARY_ASSIGN(auto second_run, DeviceArray<ThcRun>::copy_of(queue, sum_run));
  TRIBUTARY_ASSIGN(auto out, DeviceArray<std::uint8_t>::make(fields.size()));
  TRIBUTARY_ASSIGN(auto in, DeviceArray<std::uint8_t>::copy_of(queue, sums));
  TRIBUTARY_ASSIGN(auto back, DeviceArray<float>::make(n));
  TRIBUTARY_ASSIGN(auto not_finite,
                   DeviceArray<std::uint32_t>::copy_of(queue, RawVector<std::uint32_t>(1, 0)));
  TRIBUTARY_ASSIGN(auto flags,
                   DeviceArray<ThcFlags>::copy_of(queue, RawVector<ThcFlags>(1, ThcFlags{})));
  const thc::Rounding rounding = host.rounding;
  return std::make_shared<ThcArrays>(
      ThcArrays{update, std::move(host), blocks, rounding, std::move(x), std::move(norms),
                std::move(first_run), std::move(second_run), std::move(out), std::move(in),
                std::move(back), std::move(not_finite), std::move(flags)});
}

}  // namespace

Result<std::vector<DeviceCase>> thc_cases(const FloatVector& update) {
  TRIBUTARY_ASSIGN(const std::shared_ptr<ThcArrays> arrays, thc_arrays(update));
  const std::uint64_t bytes = update.size() * sizeof(float);
  return std::vector<DeviceCase>{
      {.name = "thc encode",
       .float_bytes = bytes,
       .start =
           [arrays](const Queue& queue) {
             TRIBUTARY_TRY(arrays->start_norms(queue));
             return arrays->start_levels(queue);
           },
       .check = [arrays](const Queue& queue) { return arrays->check_levels(queue); }},
      {.name = "thc norms (stage 0)",
       .float_bytes = bytes,
       .start = [arrays](const Queue& queue) { return arrays->start_norms(queue); },
       .check = [arrays](const Queue& queue) { return arrays->check_norms(queue); }},
      {.name = "thc levels (stage 1)",
       .float_bytes = bytes,
       .start = [arrays](const Queue& queue) { return arrays->start_levels(queue); },
       .check = [arrays](const Queue& queue) { return arrays->check_levels(queue); }},
      {.name = "thc decode",
       .float_bytes = bytes,
       .start = [arrays](const Queue& queue) { return arrays->start_decode(queue); },
       .check = [arrays](const Queue& queue) { return arrays->check_decoded(queue); }},
  };
}

}  // namespace tributary::cuda
