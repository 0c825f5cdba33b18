// A commit that cannot be applied yet, because its plan or an aggregate is still to come, and how
// long nothing has come for it.
//
// At most one is kept: a newer one replaces it. The caller checks it against the model's version.
//
// Threads: one at a time.
#pragma once

#include <memory>

#include "core/round/common/session/conversation.h"

namespace tributary {

class PendingCommit {
 public:
  void hold(TimeNs now, const wire::Commit& commit) {
    if (!commit_) waits_since_ns_ = now;
    commit_ = std::make_unique<wire::CommitT>();
    commit.UnPackTo(commit_.get());
  }
  void clear() { commit_.reset(); }
  // Null: none.
  const wire::CommitT* get() const { return commit_.get(); }
  const wire::CommitT* of(const RoundKey& key) const {
    return commit_ && key_of(*commit_->id) == key ? commit_.get() : nullptr;
  }

  // Something has come that it may wait for, or the wait was acted on.
  void wait_again(TimeNs now) { waits_since_ns_ = now; }
  // When nothing that belongs to it is expected any more. An acknowledgement that may take 250 ms
  // makes this 30 s.
  TimeNs overdue_at_ns(TimeNs ack_timeout_ns) const {
    return commit_ ? waits_since_ns_ + kOverdueAckTimeouts * ack_timeout_ns : kNever;
  }

 private:
  static constexpr TimeNs kOverdueAckTimeouts = 120;

  std::unique_ptr<wire::CommitT> commit_;
  TimeNs waits_since_ns_ = 0;
};

}  // namespace tributary
