// Downloads a model from the coordinator to an agent: requests it and receives it, over several
// sessions and restarts if needed. Meanwhile it stores the received bytes piece by piece. A run is
// such a piece: consecutive bytes in one record of the journal.
//
// The caller releases a complete download, applies it, and answers or refuses its offer. An offer
// that does not fit the job is refused. An offer that lacks its first bytes is refused and
// requested again.
//
// A download takes memory for the whole model from its first offer on, at most
// Replica::download_bytes_max(). Context, session and replica are borrowed and must outlive this
// object; the replica is only read. Not thread-safe.
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

  // Continues a stored download; ignores one that does not fit the replica's job.
  void restore(const std::optional<StoredDownload>& stored);

  // Requests a transfer, unless one is requested or being received. Requires a job.
  void request(wire::TransferReason reason);
  // True if a transfer was requested and no offer has arrived.
  bool requested() const { return requested_; }
  bool transferring() const { return download_ && download_->offer(); }

  // Both return true if the download is complete and can be released. The bytes are not compared
  // with the offer's hash; the caller does that. Parts of another transfer are ignored.
  [[nodiscard]] bool receive(const wire::TransferOffer& offer, std::uint64_t message_id);
  [[nodiscard]] bool receive(const wire::TransferPart& part, ByteSpan payload);
  // Passes the download to the caller. Null: none has begun.
  std::unique_ptr<const ModelDownload> release() { return std::move(download_); }

  // Requests the rest of a download if no part has arrived for a while. The caller calls it at
  // next_due_ns() or later.
  void ask_for_rest();
  TimeNs next_due_ns() const { return download_ ? download_->ask_at_ns() : kNever; }

  // The session is lost. The received bytes are kept for the next one.
  void session_lost();
  // The job has changed. Frees the download.
  void drop_download() { download_.reset(); }
  // A ReplicaRecord is being stored, which removes the stored runs.
  void replica_stored();

  // Memory of the download, in bytes.
  std::uint64_t bytes() const { return download_ ? download_->bytes() : 0; }
  // Adds to a Hello the bytes that need not be sent again.
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
