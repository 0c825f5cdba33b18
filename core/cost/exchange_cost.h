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

#include "core/cost/exchange_shape.h"
#include "core/link_quality/link_estimate.h"

namespace tributary {

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
  wire::Collective kind = wire::Collective::star;
  double seconds = 0;
  // Of the busiest member, and of the coordinator where it takes part.
  double bytes_sent = 0;
  double bytes_received = 0;
  double hub_bytes_sent = 0;
  double hub_bytes_received = 0;
};

ExchangeCost predict_exchange(wire::Collective kind, const ExchangeWork& work,
                              const ExchangeNetwork& network);

}  // namespace tributary
