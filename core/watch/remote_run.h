// Reads a run from a coordinator across the network (docs/watch.md). It is the counterpart of
// RunFollower, which reads a file on this machine.
//
// If the coordinator cannot be reached or refuses the key, step() returns an error until it can be
// reached again. Reading then continues, or starts from the beginning if necessary
// (RunChanges::begins_anew).
//
// Thread rule: one thread at a time, except wake(). Calls block, so a user interface's thread must
// not make them.
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

// The coordinator to observe, the keys and the time limits.
struct RemoteRunOptions {
  std::string endpoint = {};   // its watch.endpoint: "tcp://coordinator.lan:4641"
  KeyPair keys;                // must be in its watch.allow_file
  PublicKey coordinator = {};  // the only key that is accepted at the other end
  bool encrypted = true;       // must be the same as the coordinator's setting
  // Pause after an error before the next question.
  std::chrono::nanoseconds retry_after = std::chrono::seconds(1);
  // Time limit of an answer, and the additional time for the answer to an operator's question,
  // which includes the coordinator's wait for its journal.
  std::chrono::nanoseconds patience = std::chrono::seconds(10);
  std::chrono::nanoseconds more_for_operators = std::chrono::seconds(30);
};

class RemoteRun : public RunSource {
 public:
  // The clock must outlive this object and must be the system's clock or run at the same rate.
  RemoteRun(RemoteRunOptions options, const Clock& clock);
  ~RemoteRun() override;
  RemoteRun(const RemoteRun&) = delete;
  RemoteRun& operator=(const RemoteRun&) = delete;

  // See RunSource. Blocks for at most 0.2 s, so false may also mean that an answer has not arrived
  // yet. Besides the errors of the coordinator's own reading (RunFollower::step) it returns:
  //   unavailable         the coordinator cannot be reached
  //   permission_denied   the coordinator refuses the key
  //   mismatch            the coordinator has another key than expected
  //   unsupported         the coordinator uses another version
  //   resource_exhausted  the coordinator has as many observers as it allows
  //   deadline_exceeded   no answer within `patience`; the wait continues up to six times as
  //                       long, and then a new connection is made
  Result<bool> step(RunChanges& changes) override;
  bool at_end() const override;

  // Waits for the answer. Returns an error at once if no connection exists.
  Result<RoundDetail> round_detail(std::uint64_t job, std::uint64_t round) override;
  // Waits for the answer, and before that for one attempt to connect if necessary. Returns
  // unavailable if the connection ends after the question was sent; the coordinator may or may not
  // have received it. Returns deadline_exceeded and closes the connection if no answer arrives. In
  // both cases the next question connects again, whether or not step() is called. Returns
  // permission_denied if the key may observe but is not one of watch.operators.
  Result<std::string> ask_operator(std::string_view question) override;

  // Ends the call that waits, or else the next one that would wait, without its answer: step()
  // returns false or the current error, and the other calls return `cancelled`. Any thread may call
  // it.
  void wake() override;

 private:
  class Client;
  std::unique_ptr<Client> client_;
};

}  // namespace tributary
