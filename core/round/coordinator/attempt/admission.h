// Admits the payloads of one attempt: takes their parts, bounds the memory of incomplete ones, and
// tells agents by receipts what has arrived and when to go on.
//
// A payload that finds no room is dropped; its sender waits and is called when there is room. The
// attempt has checked the addresses of a part before it comes here.
#pragma once

#include <cstdint>
#include <utility>

#include "core/round/common/machine/repeated_bytes.h"
#include "core/round/coordinator/attempt/active_round.h"
#include "core/round/coordinator/attempt/incoming.h"
#include "core/round/coordinator/context/membership.h"
#include "core/round/coordinator/context/upload_budget.h"

namespace tributary {

class Admission {
 public:
  // `repeats` counts bytes that crossed a link for nothing. All references outlive it.
  Admission(CoordinatorContext& context, ActiveRound& round, const UploadBudget& budget,
            RepeatedBytes& repeats)
      : context_(context),
        round_(round),
        budget_(budget),
        repeats_(repeats),
        incoming_(budget.incoming_bytes_max()) {}

  // True: a payload is whole now, and its stage may be complete.
  bool take(AgentSession& session, std::uint32_t member, const wire::Part& part, ByteSpan payload);
  // An agent has a payload and waits to be called.
  void take_announcement(AgentSession& session, std::uint32_t member, const wire::Receipt& receipt);
  // Gives room to the payloads that have waited longest for it.
  void call_waiting();

  void stage_closed(std::uint32_t bucket) { incoming_.erase_bucket(bucket); }
  // What the member had begun is dropped.
  void withdrew(std::uint32_t member);
  // Where agents wait for room the member's room goes to the next. Else the member continues its
  // payloads when it comes back.
  void lost(std::uint32_t member);

  std::uint64_t bytes() const { return incoming_.bytes(); }

 private:
  void take_payload(AgentSession& session, std::uint32_t member, BucketAggregation& bucket,
                    ByteSpan payload);
  bool uploads(std::uint32_t member, std::uint32_t bucket) const;
  void send_receipt(AgentSession& session, std::uint32_t bucket, std::uint32_t stage,
                    std::uint64_t received_bytes, std::uint32_t window);

  CoordinatorContext& context_;
  ActiveRound& round_;
  const UploadBudget budget_;
  RepeatedBytes& repeats_;
  Incoming incoming_;
};

}  // namespace tributary
