// Admits the payloads of one attempt: assembles their parts, limits the memory of incomplete ones,
// and informs agents by receipts about received bytes and when to continue.
//
// A part that finds no memory is dropped. Its sender waits, and is called when memory is free. The
// attempt has checked the addresses of a part before it calls this object. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "core/round/common/machine/repeated_bytes.h"
#include "core/round/coordinator/attempt/active_round.h"
#include "core/round/coordinator/context/membership.h"
#include "core/round/coordinator/context/upload_budget.h"
#include "core/round/coordinator/uploads/carried_uploads.h"
#include "core/round/coordinator/uploads/incoming.h"

namespace tributary {

class Admission {
 public:
  // `repeats` counts payload bytes that crossed a link without use, and `carried` holds the uploads
  // that go on after their stage has closed. All references must outlive the object.
  Admission(CoordinatorContext& context, const Membership& membership, ActiveRound& round,
            const UploadBudget& budget, RepeatedBytes& repeats, CarriedUploads& carried)
      : context_(context),
        membership_(membership),
        round_(round),
        budget_(budget),
        repeats_(repeats),
        carried_(carried),
        incoming_(budget.incoming_bytes_max()) {}

  // Handles a part. Returns true if a payload is complete now, so that its stage may be complete.
  bool take(AgentSession& session, std::uint32_t member, const wire::Part& part, ByteSpan payload);
  // Handles the announcement of a payload whose agent waits to be called. Reserves memory and calls
  // the agent if memory is free. An upload that has outlived an earlier attempt continues.
  void take_announcement(AgentSession& session, std::uint32_t member, const wire::Receipt& receipt);
  // Reserves memory for the payloads that have waited longest, and calls their senders.
  void call_waiting();

  // Asks a member for a segment of a result that another one, which has left, was to send.
  void ask_for_segment(AgentSession& session, std::uint32_t bucket, std::uint32_t stage,
                       std::uint32_t segment) {
    send_receipt(session, {.bucket = bucket, .stage = stage, .segment = segment}, 0,
                 budget_.window());
  }

  // The bucket's open stage closes. Uploads of payloads that outlive the round go on.
  void stage_closed(std::uint32_t bucket);
  // Drops the incomplete payloads of a member that has withdrawn.
  void withdrew(std::uint32_t member);
  // Handles the loss of a member's session. If agents wait for memory, its incomplete payloads are
  // dropped for their sake. Otherwise the member continues them when it returns.
  void lost(std::uint32_t member);

  std::uint64_t bytes() const { return incoming_.bytes(); }

 private:
  // `whole` is empty if the payload is the message's own part.
  void take_payload(AgentSession& session, const wire::Part& part, const IncomingKey& key,
                    ByteSpan payload, Bytes whole);
  void resume(const std::string& agent_id, const IncomingKey& key, std::uint64_t encoded_round,
              std::uint64_t bytes);
  std::uint64_t encoded_round(const IncomingKey& key) const;
  bool postponed(const std::string& agent_id, std::uint32_t member);
  // True if the part or the announcement is of a result that the members have made.
  template <typename Message>
  bool is_result(const Message& message) const;
  template <typename Message>
  IncomingKey key_for(const Message& message, std::uint32_t member) const;
  bool uploads(std::uint32_t member, const IncomingKey& key) const;
  bool needed(const IncomingKey& key, std::uint32_t stage) const;
  // The address of a receipt.
  struct Addressee {
    std::uint32_t bucket = 0;
    std::uint32_t stage = 0;
    std::uint32_t segment = 0;
  };
  void send_receipt(AgentSession& session, const Addressee& of, std::uint64_t received_bytes,
                    std::uint32_t window);

  CoordinatorContext& context_;
  const Membership& membership_;
  ActiveRound& round_;
  const UploadBudget budget_;
  RepeatedBytes& repeats_;
  CarriedUploads& carried_;
  Incoming incoming_;
  // The rounds in which payloads were encoded whose upload began in an earlier attempt.
  std::map<IncomingKey, std::uint64_t> encoded_rounds_;
};

}  // namespace tributary
