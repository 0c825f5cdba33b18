// A model on its way to an agent. It goes on where it was after a lost session, and after a restart
// of the agent, as far as it has been stored; the bytes are checked once, when all are there.
//
// Threads: one at a time.
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
  // `hash` is of all bytes (TransferOffer.hash). The caller has compared `bytes` with a cap.
  ModelDownload(std::uint64_t hash, std::uint64_t bytes) : hash_(hash), received_(bytes) {}
  // What a journal has kept of it, which is not more than all.
  explicit ModelDownload(const StoredDownload& stored);

  std::uint64_t hash() const { return hash_; }
  std::uint64_t bytes() const { return received_.size(); }
  std::uint64_t received_from_start() const { return received_.from_start(); }
  bool complete() const { return received_.complete(); }
  ByteSpan content() const { return received_.bytes(); }

  // The coordinator sends it in this session, from `offer.from` on.
  void offered(TimeNs now, std::uint64_t message_id, const wire::TransferOffer& offer);
  void session_lost() { offer_.reset(); }
  // Null: nobody sends it now.
  const wire::TransferOfferT* offer() const { return offer_ ? &*offer_ : nullptr; }
  std::uint64_t message_id() const { return message_id_; }  // of the offer

  // How many bytes are new; an error where the part does not lie within the model.
  Result<std::uint64_t> take(TimeNs now, const wire::TransferPart& part, ByteSpan payload);

  // The run that is to be stored next; nothing while one is being stored, or while the download is
  // too young to be worth it.
  std::optional<DownloadRecord> next_to_store(TimeNs now, std::uint64_t job);
  void stored();
  // A replica is stored, which removes the runs before it: the next one begins at 0.
  void forget_stored();

  // When the rest is to be asked for, because nothing has come for so long.
  TimeNs ask_at_ns() const { return offer_ ? again_.due_at_ns() : kNever; }
  wire::TransferFetchT ask(TimeNs now);

 private:
  std::uint64_t hash_;
  Reassembly received_;
  std::optional<wire::TransferOfferT> offer_;
  std::uint64_t message_id_ = 0;
  TimeNs began_at_ns_ = -1;
  std::uint64_t stored_ = 0;
  std::uint64_t storing_to_ = 0;  // 0: nothing is being stored
  bool stored_is_forgotten_ = false;
  RepeatTimer again_;
};

}  // namespace tributary
