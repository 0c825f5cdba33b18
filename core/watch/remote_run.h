// A run that a coordinator across the network tells of (docs/watch.md): what RunFollower is for a
// file on this machine.
//
// A coordinator that cannot be reached, or sends this key away, is an error of step() until it is
// there again; then it is read on, or from its beginning where that is needed, as
// RunChanges::begins_anew says.
//
// Threads: one at a time, but for wake(); not one that draws.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/keys/keys.h"
#include "core/run/run_source.h"

namespace tributary {

struct RemoteRunOptions {
  std::string endpoint = {};   // its watch.endpoint: "tcp://coordinator.lan:4641"
  KeyPair keys;                // on its watch.allow_file
  PublicKey coordinator = {};  // pinned: nobody else is talked to
  bool encrypted = true;       // must be as the coordinator's
  // After trouble nothing is asked again before so long.
  std::chrono::nanoseconds retry_after = std::chrono::seconds(1);
  // For an answer; and how much longer that to an operator's question may take, with the
  // coordinator's own patience with its journal.
  std::chrono::nanoseconds patience = std::chrono::seconds(10);
  std::chrono::nanoseconds more_for_operators = std::chrono::seconds(30);
};

class RemoteRun : public RunSource {
 public:
  // The clock must outlive it, and go as the system's does.
  RemoteRun(RemoteRunOptions options, const Clock& clock);
  ~RemoteRun() override;
  RemoteRun(const RemoteRun&) = delete;
  RemoteRun& operator=(const RemoteRun&) = delete;

  // As RunSource has it. Takes a fifth of a second at most: false may also mean that an answer is
  // still under way. Errors beside those of the coordinator's own reading (RunFollower::step):
  // unavailable (cannot be reached), permission_denied (a key that is not let in), mismatch (the
  // coordinator's is not the one that is expected), unsupported (of another version),
  // resource_exhausted (as many as it lets look are there),
  // deadline_exceeded (no answer within the patience; it is still waited for, six times as long,
  // and then the coordinator is dialled anew).
  Result<bool> step(RunChanges& changes) override;
  bool at_end() const override;

  // Waits for the answer, and fails at once where there is no connection.
  Result<RoundDetail> round_detail(std::uint64_t job, std::uint64_t round) override;
  // Waits for a connection, too: one attempt to make it. The end of the one that the question went
  // out on is unavailable, and whether it was heard is not known; deadline_exceeded gives the
  // connection up. Either way the next question dials again, whether or not anybody calls step().
  // Permission_denied: the key may look, but is not one of watch.operators.
  Result<std::string> ask_operator(std::string_view question) override;

  // Any thread. The call that is waiting, or else the next one that would, ends without its answer:
  // step() with false or the trouble that there is, the others with `cancelled`.
  void wake() override;

 private:
  class Line;
  std::unique_ptr<Line> line_;
};

}  // namespace tributary
