// Follows a run's file, also while a coordinator writes it, and hands over what is new in bounded
// portions: first jobs, rounds and what they came to, then everything else.
//
// A file that goes away, is replaced, or cannot be read is an error of step(), which is tried again
// by itself: the caller only goes on calling. What is in the place of the old file afterwards is
// told from it, and RunChanges::begins_anew says so.
//
// Threads: one at a time, but for wake(); not the one that draws.
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

struct RunFollowerOptions {
  std::string path = {};
  // A file that cannot be read is not looked at before so long.
  std::chrono::nanoseconds retry_after = std::chrono::seconds(1);
  std::uint32_t rows_max = 4096;      // of a portion
  std::uint32_t events_max = 50'000;  // older ones are passed over
  // This process writes it: then it is opened by SQLite alone. A file of it that is opened and
  // closed beside that would take SQLite's locks along, which are the process's (fcntl).
  bool own_journal = false;
};

class RunFollower : public RunSource {
 public:
  // The clock must outlive it.
  RunFollower(RunFollowerOptions options, const Clock& clock);
  ~RunFollower() override;
  RunFollower(const RunFollower&) = delete;
  RunFollower& operator=(const RunFollower&) = delete;

  // Adds what one portion brings to `changes`. True: there is more at once; false: ask again after
  // a while. Errors: not_found (no such file), mismatch (not a run), unsupported (of a newer
  // build), unavailable (not yet one, or locked), corrupt_data and io_error as of RunFile. Until it
  // is time to try again the last one is given again, without a look at the disk. What `changes`
  // holds then is right, and to be taken as well.
  Result<bool> step(RunChanges& changes) override;
  bool at_end() const override { return at_end_; }

  // One round in detail, of the file that step() reads.
  Result<RoundDetail> round_detail(std::uint64_t job, std::uint64_t round) override;
  // Through the control socket beside the file, if its daemon runs on this machine as this user.
  Result<std::string> ask_operator(std::string_view question) override;
  // An operator's question that waits ends as `cancelled`, or else the next one.
  void wake() override { woken_ = true; }

 private:
  // Where the file is on its disk: another one of the same name has another.
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
  std::unique_ptr<RunReader> reader_;  // what was read so far, of the file at place_
  Place place_;
  bool connected_ = false;  // false: through a connection that has failed
  bool begins_anew_ = false;
  bool at_end_ = false;
  std::atomic<bool> woken_ = false;
  Status trouble_;
  std::chrono::nanoseconds retry_at_{0};
};

}  // namespace tributary
