// How long an exchange takes, said before it is made. Every bucket goes up a tree to its owner and
// comes down again (core/collective/routes.h); buckets follow one another, so that in a long
// exchange some port is always busy, and in a short one latency counts. The greater of two bounds
// is said:
//
//   the busiest port's work, and what stands at its beginning and end
//   the way of one bucket alone, and of those that its members have to send behind it
//
// The test beside this plays exchanges bucket by bucket and holds both to it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/link_quality/link_estimate.h"

namespace tributary {

enum class ExchangeKind : std::uint8_t {
  star,              // by the coordinator, whose line all share
  sharded_star,      // direct, owners take turns
  ring,              // a chain, owners take turns
  tree,              // binomial, one root
  halving_doubling,  // binomial, roots take turns
  all_gather,        // everybody's to everybody
};
inline constexpr ExchangeKind kExchangeKinds[] = {
    ExchangeKind::star, ExchangeKind::sharded_star,     ExchangeKind::ring,
    ExchangeKind::tree, ExchangeKind::halving_doubling, ExchangeKind::all_gather};

std::string_view name(ExchangeKind kind);

// What is done with the payloads of one stage of a codec.
enum class StageFlow : std::uint8_t {
  reduced,    // combined on the way up, the result comes down
  from_root,  // one member's to all
  gathered,   // nobody combines them among peers; the coordinator may
};

// Of one bucket: bytes with envelopes, and seconds of one core.
struct StagePayload {
  StageFlow flow = StageFlow::reduced;
  double up_bytes = 0;
  double down_bytes = 0;   // of the combined payload; from_root has none of its own
  double encode_s = 0;     // of whoever sends a payload
  double aggregate_s = 0;  // of whoever adds one
};

struct ExchangeWork {
  std::uint32_t agents = 1;
  std::uint32_t buckets = 1;
  std::span<const StagePayload> stages;  // of a bucket of mean size
  double decode_s = 0;                   // of what comes of a bucket, at every agent, on one core
  double message_s = 0;                  // to send a payload, and again to receive it, on one core
  double byte_s = 0;                     // and each byte of it
  double cores = 1;                      // that an agent has; less than one where agents share them
};

struct ExchangeNetwork {
  LinkEstimate agents;  // the slowest member's
  LinkEstimate hub;     // the coordinator's; its alpha is the agents' way to it
};

struct ExchangeCost {
  ExchangeKind kind = ExchangeKind::star;
  double seconds = 0;
  // Of the busiest member, and of the coordinator where it takes part.
  double bytes_sent = 0;
  double bytes_received = 0;
  double hub_bytes_sent = 0;
  double hub_bytes_received = 0;
};

ExchangeCost predict_exchange(ExchangeKind kind, const ExchangeWork& work,
                              const ExchangeNetwork& network);

}  // namespace tributary
