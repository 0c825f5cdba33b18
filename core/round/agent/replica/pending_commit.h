// A commit that cannot be applied yet, because its plan or an aggregate has not arrived, and the
// time since anything arrived for it.
//
// At most one commit is kept, and a newer one replaces it. The caller compares it with the model's
// version. Not thread-safe.
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
  // Null if there is none.
  const wire::CommitT* get() const { return commit_.get(); }
  const wire::CommitT* of(const RoundKey& key) const {
    return commit_ && key_of(*commit_->id) == key ? commit_.get() : nullptr;
  }

  // Restarts the wait, because data for the commit arrived or the caller acted on the wait.
  void wait_again(TimeNs now) { waits_since_ns_ = now; }
  // The time from which the missing data is not expected any more. With an acknowledgement timeout
  // of 250 ms the wait is 30 s.
  TimeNs overdue_at_ns(TimeNs ack_timeout_ns) const {
    return commit_ ? waits_since_ns_ + kOverdueAckTimeouts * ack_timeout_ns : kNever;
  }

 private:
  static constexpr TimeNs kOverdueAckTimeouts = 120;

  std::unique_ptr<wire::CommitT> commit_;
  TimeNs waits_since_ns_ = 0;
};

}  // namespace tributary
