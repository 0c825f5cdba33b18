#include "core/codec/thc/network/network_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "core/codec/payload.h"
#include "core/codec/spec.h"
#include "core/codec/thc/body.h"
#include "core/codec/thc/families.h"
#include "core/codec/thc/options.h"

namespace tributary::thc {
namespace {

constexpr unsigned kNetworkBits = 4;
constexpr std::uint32_t kNarrowMax = 255;
constexpr std::uint32_t kWideMax = 65'535;

Status not_for_the_network(std::string_view spec, std::string expected, std::string remedy) {
  return Status(StatusCode::unsupported, {.what = "codec of sums in the network",
                                          .expected = std::move(expected),
                                          .got = fmt::format("'{}'", spec),
                                          .remedy = std::move(remedy)});
}

Result<Params> network_params(std::string_view spec, std::string_view down) {
  TRIBUTARY_ASSIGN(SpecText text, split_spec(spec));
  if (text.name != "thc") {
    return not_for_the_network(spec, "thc", "set codec = \"thc\", or another collective");
  }
  if (!down.empty()) {
    std::erase_if(text.pairs, [](const SpecText::Pair& pair) { return pair.key == "down"; });
    text.pairs.push_back({.key = "down", .value = down});
  }
  TRIBUTARY_ASSIGN(Params params, Params::make(text, families().front().params));
  const Options options = Options::from(params);
  if (options.bits != kNetworkBits || options.rate != 0) {
    return not_for_the_network(spec, "levels of 4 bits, all of the same width",
                               "set bits = 4 and leave out rate, or set another collective");
  }
  return params;
}

std::uint32_t least_granularity(const Options& options) {
  return std::max(options.granularity, (1u << kNetworkBits) - 1);
}

template <typename Sum>
bool within(ByteSpan sums, std::uint64_t bound) {
  Sum largest = 0;
  for (std::size_t at = 0; at < sums.size(); at += sizeof(Sum)) {
    Sum sum;
    std::memcpy(&sum, sums.data() + at, sizeof(sum));
    largest = std::max(largest, sum);
  }
  return largest <= bound;
}

}  // namespace

Status check_network_codec(std::string_view spec) {
  TRIBUTARY_ASSIGN(const Params params, network_params(spec, {}));
  if (Options::from(params).down_bits == 0) return {};
  return not_for_the_network(spec, "no `down`, because it follows from the number of agents",
                             "leave out down");
}

Result<std::string> network_codec(std::string_view spec, std::uint32_t agents) {
  TRIBUTARY_TRY(check_network_codec(spec));
  TRIBUTARY_ASSIGN(const Params exact, network_params(spec, {}));
  const bool wide = std::uint64_t{least_granularity(Options::from(exact))} * agents > kNarrowMax;
  TRIBUTARY_ASSIGN(const Params params, network_params(spec, wide ? "16" : "8"));
  return params.canonical("thc");
}

Result<NetworkTable> network_table(std::string_view spec, std::uint32_t agents) {
  TRIBUTARY_ASSIGN(const Params params, network_params(spec, {}));
  const Options options = Options::from(params);
  TRIBUTARY_ASSIGN(const std::shared_ptr<const Levels> levels, options.levels_for(agents));
  NetworkTable table{.granularity = levels->granularity, .fingerprint = levels->fingerprint};
  std::copy_n(levels->places.begin(), table.places.size(), table.places.begin());
  const std::uint64_t largest = std::uint64_t{table.granularity} * agents;
  table.wide = largest > kNarrowMax;
  if (options.down_bits != (table.wide ? 16u : 8u) || largest > kWideMax) {
    return not_for_the_network(
        spec, fmt::format("sums of {} bits for {} agents", table.wide ? 16 : 8, agents),
        "plan the round for the same number of agents everywhere");
  }
  return table;
}

ByteSpan network_levels(ByteSpan payload) {
  const std::size_t spec_bytes = (std::size_t{payload[5]} + 7) / 8 * 8;
  return payload.subspan(kPayloadFixedHeaderBytes + spec_bytes + kStampBytes);
}

Result<Bytes> network_result(const Execution& execution, ByteSpan own, ByteSpan sums,
                             std::uint32_t agents, const NetworkTable& table) {
  TRIBUTARY_ASSIGN(const OpenPayload open, open_payload(execution, own));
  const std::size_t expected = 2 * network_levels(own).size() * (table.wide ? 2u : 1u);
  if (sums.size() != expected) return wrong_body_size("sums of the network", expected, sums.size());
  const std::uint64_t bound = std::uint64_t{table.granularity} * agents;
  if (!(table.wide ? within<std::uint16_t>(sums, bound) : within<std::uint8_t>(sums, bound))) {
    return sum_too_large(agents);
  }
  PayloadHeader header = open.header;
  header.layout = table.wide ? 16 : 8;
  header.contributors = agents;
  Bytes combined;
  const MutableByteSpan body = start_payload(header, kStampBytes + sums.size(), combined);
  std::memcpy(body.data(), open.body.data(), kStampBytes);
  std::memcpy(body.data() + kStampBytes, sums.data(), sums.size());
  seal_payload(execution, combined);
  return combined;
}

}  // namespace tributary::thc
