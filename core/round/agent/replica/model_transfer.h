// Brings an agent's model up to date by a transfer from the coordinator: asks for one, collects the
// download over sessions and restarts, and stores its runs meanwhile.
//
// The caller releases a complete download and settles its offer (answers or refuses it). An offer
// that does not fit the job is refused; one that lacks its first bytes is refused and asked for
// again. The replica is borrowed and only read.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/context/client_session.h"
#include "core/round/agent/replica/model_download.h"
#include "core/round/agent/replica/replica.h"

namespace tributary {

class ModelTransfer {
 public:
  ModelTransfer(AgentContext& context, ClientSession& session, const Replica& replica)
      : context_(context), session_(session), replica_(replica) {}

  // Continues a download from the journal; ignored where it cannot be of the replica's job.
  void restore(const std::optional<StoredDownload>& stored);

  // Asks for a transfer, unless one was asked for or is being received. Only with a job.
  void request(wire::TransferReason reason);
  // A transfer was asked for, and no offer has come.
  bool requested() const { return requested_; }
  bool transferring() const { return download_ && download_->offer(); }

  // True: the download is complete, to be released.
  [[nodiscard]] bool receive(const wire::TransferOffer& offer, std::uint64_t message_id);
  [[nodiscard]] bool receive(const wire::TransferPart& part, ByteSpan payload);
  std::unique_ptr<const ModelDownload> release() { return std::move(download_); }

  // Sends the request for the rest of a download when it is due.
  void ask_for_rest();
  TimeNs next_due_ns() const { return download_ ? download_->ask_at_ns() : kNever; }

  // The bytes that have arrived stay for the next session.
  void session_lost();
  // The job is another.
  void drop_download() { download_.reset(); }
  // A ReplicaRecord is being stored, which removes stored runs.
  void replica_stored();

  std::uint64_t bytes() const { return download_ ? download_->bytes() : 0; }
  // For a Hello: which bytes need not be sent again.
  void describe(wire::HoldingT& holding) const;

 private:
  bool fits(const wire::TransferOffer& offer) const;
  void store_run();

  AgentContext& context_;
  ClientSession& session_;
  const Replica& replica_;
  std::unique_ptr<ModelDownload> download_;  // null: none has begun
  bool requested_ = false;
};

}  // namespace tributary
