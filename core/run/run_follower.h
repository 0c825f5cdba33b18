// Follows a run's file, also while a coordinator writes it, and returns new data in bounded
// portions: first jobs, rounds, and their accuracy and loss, then everything else.
//
// If the file disappears, is replaced or cannot be read, step() returns an error and retries by
// itself; the caller just continues to call it. If another file has replaced the old one,
// RunChanges::begins_anew is set and the new file is read from its beginning.
//
// Used by one thread at a time; only wake() may be called from any thread. step() and
// round_detail() block on the disk and ask_operator() on the daemon, so a thread that draws must
// call none of the three.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/run/run_source.h"

namespace tributary {

class RunReader;

// The file to follow, and the sizes of portions.
struct RunFollowerOptions {
  std::string path = {};
  // Time between two attempts to read a file that cannot be read.
  std::chrono::nanoseconds retry_after = std::chrono::seconds(1);
  std::uint32_t rows_max = 4096;      // rows of one portion
  std::uint32_t events_max = 50'000;  // older events are skipped
  // True if this process writes the file. Then only SQLite opens it: closing any other handle of
  // the file would release SQLite's locks, because fcntl locks belong to the process.
  bool own_journal = false;
};

class RunFollower : public RunSource {
 public:
  // The clock must outlive the follower.
  RunFollower(RunFollowerOptions options, const Clock& clock);
  ~RunFollower() override;
  RunFollower(const RunFollower&) = delete;
  RunFollower& operator=(const RunFollower&) = delete;

  // Adds one portion to `changes`. True: more data is available at once; false: call again after a
  // pause. Fails with not_found (no such file), mismatch (not a run), unsupported (written by a
  // newer build), unavailable (empty or locked), or corrupt_data and io_error as RunFile does.
  // Until the next attempt, the last error is returned without access to the disk. The content of
  // `changes` is valid also after an error.
  Result<bool> step(RunChanges& changes) override;
  bool at_end() const override { return at_end_; }

  // One round in detail, from the file that step() reads.
  Result<RoundDetail> round_detail(std::uint64_t job, std::uint64_t round) override;
  // Asks through the control socket beside the file, and waits at most 30 s. It works if the daemon
  // runs on this machine as the same user.
  Result<std::string> ask_operator(std::string_view question) override;
  // Cancels the operator's question that is waiting, or else the next one (`cancelled`).
  void wake() override { woken_ = true; }

 private:
  // Identifies a file on its device. A file that replaces another one of the same name has another
  // inode.
  struct Place {
    std::uint64_t device = 0;
    std::uint64_t file = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };

  Result<Place> place() const;
  Result<bool> step_now(RunChanges& changes);
  Status connect(const Place& now);
  void forget();

  RunFollowerOptions options_;
  const Clock& clock_;
  std::unique_ptr<RunReader> reader_;  // reader with the position in the file at place_
  Place place_;
  bool connected_ = false;  // false: the connection has failed or does not exist
  bool begins_anew_ = false;
  bool at_end_ = false;
  std::atomic<bool> woken_ = false;
  Status trouble_;
  std::chrono::nanoseconds retry_at_{0};
};

}  // namespace tributary
