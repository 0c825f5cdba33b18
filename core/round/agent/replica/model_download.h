// The download of a model to an agent. It continues after a lost session at the same byte, and
// after a restart of the agent at the last stored byte. The bytes are verified once, when all have
// arrived. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "core/round/agent/context/repeat_timer.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/machine/reassembly.h"
#include "core/round/common/machine/records.h"
#include "core/round/common/session/conversation.h"

namespace tributary {

class ModelDownload {
 public:
  // `hash` is the hash of all bytes (TransferOffer.hash). The caller has compared `bytes` with a
  // limit.
  ModelDownload(std::uint64_t hash, std::uint64_t bytes) : hash_(hash), received_(bytes) {}
  // Continues a stored download. Requires that it has at most `stored.bytes` bytes.
  explicit ModelDownload(const StoredDownload& stored);

  std::uint64_t hash() const { return hash_; }
  std::uint64_t bytes() const { return received_.size(); }
  std::uint64_t received_from_start() const { return received_.from_start(); }
  bool complete() const { return received_.complete(); }
  ByteSpan content() const { return received_.bytes(); }

  // The coordinator sends the model in this session, from byte `offer.from` on.
  void offered(TimeNs now, std::uint64_t message_id, const wire::TransferOffer& offer);
  void session_lost() { offer_.reset(); }
  // Null if no session sends it now.
  const wire::TransferOfferT* offer() const { return offer_ ? &*offer_ : nullptr; }
  std::uint64_t message_id() const { return message_id_; }  // of the offer

  // Copies a part and returns the number of new bytes, or mismatch if the part is not within the
  // model.
  Result<std::uint64_t> take(TimeNs now, const wire::TransferPart& part, ByteSpan payload);

  // The next run to store. Empty while one is being stored, or while the download is too young.
  std::optional<DownloadRecord> next_to_store(TimeNs now, std::uint64_t job);
  void stored();
  // A stored replica has removed the stored runs, so the next one begins at 0.
  void forget_stored();

  // The time at which to request the rest, because no part has arrived for a while.
  TimeNs ask_at_ns() const { return offer_ ? again_.due_at_ns() : kNever; }
  // A request for the rest.
  wire::TransferFetchT ask(TimeNs now);

 private:
  std::uint64_t hash_;
  Reassembly received_;
  std::optional<wire::TransferOfferT> offer_;
  std::uint64_t message_id_ = 0;
  TimeNs began_at_ns_ = -1;
  std::uint64_t stored_ = 0;
  std::uint64_t storing_to_ = 0;  // end of the run that is being stored; 0: none
  bool stored_is_forgotten_ = false;
  RepeatTimer again_;
};

}  // namespace tributary
