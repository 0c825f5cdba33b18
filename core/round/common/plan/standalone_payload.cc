#include "core/round/common/plan/standalone_payload.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "core/codec/payload.h"
#include "core/codec/registry.h"
#include "core/collective/side_by_side.h"

namespace tributary {
namespace {

// Neither can begin a payload of a codec (core/codec/payload.h), because its version is below 'L'.
constexpr std::uint32_t kStandalone = 0x41535254;  // "TRSA"
constexpr std::uint32_t kLateResult = 0x524c5254;  // "TRLR"
constexpr std::size_t kStandaloneHeaderBytes = 16;
constexpr std::size_t kResultHeaderBytes = 8;

bool begins_with(std::uint32_t mark, ByteSpan payload) {
  std::uint32_t found = 0;
  if (payload.size() < sizeof(found)) return false;
  std::memcpy(&found, payload.data(), sizeof(found));
  return found == mark;
}

Status corrupt(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = std::move(what),
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "have the bucket sent again"});
}

// `Header` has no padding, so that its bytes are those of the form above.
template <typename Header>
Bytes with_header(const Header& header, ByteSpan rest) {
  Bytes bytes(sizeof(header) + rest.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), rest.data(), rest.size());
  return bytes;
}

struct StandaloneHeader {
  std::uint32_t mark = kStandalone;
  std::uint32_t zero = 0;
  std::uint64_t round = 0;
};
static_assert(sizeof(StandaloneHeader) == kStandaloneHeaderBytes);

struct ResultHeader {
  std::uint32_t mark = kLateResult;
  std::uint32_t late = 0;
};
static_assert(sizeof(ResultHeader) == kResultHeaderBytes);

StageCall alone(StageCall call, std::uint64_t round) {
  call.round.round = round;
  call.round.agent = 0;
  call.round.agents = 1;
  call.contributors = 1;
  call.combined = {};
  return call;
}

// Codecs are immutable, so all threads share one.
const Codec& fp32() {
  static const std::unique_ptr<Codec> codec = *make_codec("fp32");
  return *codec;
}

}  // namespace

// The result of a stage before the last is that of an aggregator with one payload. The payload of
// the last stage stays as the encoder wrote it.
Result<Bytes> encode_standalone(const Codec& codec, const StageCall& call,
                                std::span<const float> values) {
  const auto count = static_cast<std::uint32_t>(values.size());
  const std::size_t stages = codec.stages().size();
  // An encoder of its own: the memory of an agent's encoder follows the rounds of all agents.
  const std::unique_ptr<Encoder> encoder = codec.make_encoder(count);
  StageCall own = alone(call, call.round.round);
  std::vector<Bytes> payloads(stages);
  std::vector<ByteSpan> combined;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    own.combined = combined;
    Bytes payload;
    TRIBUTARY_TRY(encoder->encode(own, values, payload));
    if (stage + 1 == stages) {
      payloads[stage] = std::move(payload);
    } else {
      const std::unique_ptr<Aggregator> aggregator = codec.make_aggregator(stage, count);
      TRIBUTARY_TRY(aggregator->begin(own, {}));
      TRIBUTARY_TRY(aggregator->add(own, payload));
      TRIBUTARY_TRY(aggregator->finish(own, payloads[stage]));
    }
    combined.emplace_back(payloads[stage]);
  }
  return with_header(StandaloneHeader{.round = call.round.round}, join_payloads(combined));
}

bool is_standalone(ByteSpan payload) { return begins_with(kStandalone, payload); }

Status decode_standalone(const Codec& codec, StageCall call, ByteSpan payload,
                         std::span<float> values) {
  StandaloneHeader header;
  if (!is_standalone(payload) || payload.size() < sizeof(header)) {
    return corrupt("standalone payload", "its header", "another one");
  }
  std::memcpy(&header, payload.data(), sizeof(header));
  if (header.zero != 0) return corrupt("standalone payload", "zero", "another number");
  const std::size_t stages = codec.stages().size();
  TRIBUTARY_ASSIGN(
      const std::vector<ByteSpan> payloads,
      split_payloads(payload.subspan(sizeof(header)), static_cast<std::uint32_t>(stages)));
  // A payload of several agents would count with the weight of one.
  for (const ByteSpan each : payloads) {
    if (contributors_stated(each) == 1) continue;
    return corrupt("contributors of a standalone payload", "1",
                   fmt::format("{}", contributors_stated(each)));
  }
  call = alone(call, header.round);
  call.combined = std::span(payloads).first(stages - 1);
  return codec.decode(call, payloads.back(), values);
}

Bytes join_result(const ResultPayloads& payloads) {
  std::vector<ByteSpan> all = {payloads.own};
  all.insert(all.end(), payloads.late.begin(), payloads.late.end());
  return with_header(ResultHeader{.late = static_cast<std::uint32_t>(payloads.late.size())},
                     join_payloads(all));
}

Result<ResultPayloads> split_result(ByteSpan result) {
  if (!begins_with(kLateResult, result)) return ResultPayloads{.own = result, .late = {}};
  ResultHeader header;
  if (result.size() < sizeof(header)) return corrupt("result", "its header", "less");
  std::memcpy(&header, result.data(), sizeof(header));
  // The number of members has a limit, so a larger one is damage.
  if (header.late == 0 || header.late > kContributorsMax) {
    return corrupt("late payloads of a result", fmt::format("1 to {}", kContributorsMax),
                   fmt::format("{}", header.late));
  }
  TRIBUTARY_ASSIGN(std::vector<ByteSpan> payloads,
                   split_payloads(result.subspan(sizeof(header)), header.late + 1));
  const ByteSpan own = payloads.front();
  payloads.erase(payloads.begin());
  return ResultPayloads{.own = own, .late = std::move(payloads)};
}

std::vector<ByteSpan> own_results(std::vector<ByteSpan> combined) {
  const Result<ResultPayloads> payloads = split_result(combined.back());
  combined.back() = payloads.ok() ? payloads->own : ByteSpan();
  return combined;
}

Result<Bytes> encode_late_sum(const StageCall& call, std::span<const float> sum) {
  const auto encoder = fp32().make_encoder(static_cast<std::uint32_t>(sum.size()));
  Bytes payload;
  TRIBUTARY_TRY(encoder->encode(alone(call, call.round.round), sum, payload));
  return payload;
}

Status decode_late(const Codec& codec, const StageCall& call, ByteSpan payload,
                   std::span<float> values) {
  if (is_standalone(payload)) return decode_standalone(codec, call, payload, values);
  return fp32().decode(alone(call, call.round.round), payload, values);
}

}  // namespace tributary
