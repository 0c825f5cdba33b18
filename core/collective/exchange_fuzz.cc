// Fuzzes an exchange with pieces of every kind, in any order and from any member, whose payloads
// are correct, broken or of another place. The exchange may refuse them, and decoding a bucket that
// it calls whole may fail, but neither may crash or read beyond a payload.
#include <cstdlib>
#include <memory>
#include <string_view>

#include "core/codec/payload.h"
#include "core/codec/registry.h"
#include "core/collective/exchange.h"

namespace tributary {
namespace {

constexpr std::uint32_t kMembers = 3;
constexpr std::uint32_t kBuckets = 3;
constexpr std::uint32_t kValues = 70;
constexpr std::string_view kSpecs[] = {"fp32", "gcomp", "thc", "star_topk:cr=0.1", "topk:cr=0.1"};
constexpr wire::Collective kCollectivesPlayed[] = {wire::Collective::sharded_star,
                                                   wire::Collective::ring, wire::Collective::tree,
                                                   wire::Collective::all_gather};

// Plays a script of arrivals at one member of three. The bytes of the script are choices.
void play(const Codec& codec, wire::Collective collective, ByteSpan script) {
  const Routes routes = *Routes::make(collective, kMembers);
  const FloatVector input(kValues, 0.5f);
  std::vector<std::unique_ptr<Encoder>> encoders;
  std::vector<ExchangeBucket> buckets;
  for (std::uint32_t b = 0; b < kBuckets; ++b) {
    encoders.push_back(codec.make_encoder(kValues));
    buckets.push_back({.codec = &codec,
                       .encoder = encoders.back().get(),
                       .input = input,
                       .round = {.bucket = b}});
  }
  ExchangeCache cache;
  PeerExchange exchange(routes, 0, buckets, cache, {});
  PeerSends sends;
  for (std::size_t at = 0; at + 4 <= script.size(); at += 4) {
    const std::uint8_t what = script[at];
    const std::uint32_t bucket = script[at + 1] % (kBuckets + 1);
    if (what < 64) {
      if (bucket < kBuckets && !exchange.begin(bucket, sends).ok()) return;
      continue;
    }
    // Returns a payload that was sent to others as if another member had made it.
    Bytes payload;
    if (!sends.empty()) {
      const ByteSpan sent = sends[script[at + 2] % sends.size()].payload.view();
      payload.assign(sent.begin(), sent.end());
      if (payload.size() >= kPayloadFixedHeaderBytes && (what & 1) != 0) {
        set_contributors(script[at + 3] % 5, payload);
        seal_payload({}, payload);
      }
      if ((what & 2) != 0 && !payload.empty()) payload[script[at + 3] % payload.size()] ^= what;
    }
    const Piece piece = {.bucket = bucket,
                         .stage = static_cast<std::uint8_t>((what >> 3) % 4),
                         .partial = (what & 4) != 0,
                         .origin = script[at + 3] % (kMembers + 1u)};
    if (!exchange.receive(1 + script[at + 2] % 2, piece, SharedSlice(payload), sends).ok()) return;
  }
  FloatVector sum(kValues);
  FloatVector scratch(kValues);
  for (std::uint32_t b = 0; b < kBuckets; ++b) {
    if (exchange.whole(b)) ignore_error(exchange.decode(b, scratch, sum));
  }
}

}  // namespace
}  // namespace tributary

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  if (size < 1 || size > 1000) return 0;
  static const auto* const codecs = [] {
    auto* all = new std::vector<std::unique_ptr<Codec>>;
    for (const std::string_view spec : kSpecs) all->push_back(*make_codec(spec));
    return all;
  }();
  play(*(*codecs)[data[0] % codecs->size()],
       kCollectivesPlayed[(data[0] / 8) % std::size(kCollectivesPlayed)],
       ByteSpan(data + 1, size - 1));
  return 0;
}
