// Answers operators' commands, which are JSON objects (docs/jobs.md).
//
// The thread of an endpoint calls answer() and waits. The loop of the daemon calls take(), which
// passes the commands to the state machine, and done() with their results.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/operators/control_question.h"
#include "core/base/status.h"
#include "core/job/job_memory.h"
#include "core/round/coordinator/coordinator.h"

namespace tributary {

class OperatorService {
 public:
  // Views of the state machine. Called on the loop's thread.
  struct Machine {
    std::function<std::vector<Coordinator::JobView>()> jobs;
    std::function<std::vector<Coordinator::AgentView>()> agents;
  };
  // The allow-list of agents. Called on any thread.
  struct Agents {
    std::function<std::vector<std::string>()> ids;
    std::function<Status(const AllowedAgent&)> allow;
    std::function<Status(const std::string& id)> revoke;
  };

  // `first_command` is the number of the first command; later ones count up from it.
  OperatorService(Machine machine, Agents agents, const CoordinatorLimits& limits,
                  Token first_command)
      : machine_(std::move(machine)),
        agents_(std::move(agents)),
        limits_(limits),
        next_command_(first_command) {}

  // Returns the answer to a command. Blocks until the loop has handled it and, if it changes a job,
  // until the journal has stored the change; at most 20 s. Every failure is an answer with an
  // error. Thread-safe.
  std::string answer(std::string_view question);

  // Answers what needs no change of state, and returns the events for the state machine. Loop's
  // thread.
  std::vector<Event> take();
  // Answers the waiting command. Returns false if the command is not one of this object. Loop's
  // thread.
  bool done(const CommandDone& done);
  // Wakes all waiters and refuses later commands; the daemon is shutting down. Thread-safe.
  void close();

 private:
  struct Pending {
    ControlQuestion question;
    SubmitJob submit = {};
    std::optional<JobMemory> memory;  // of `submit`
    std::optional<std::string> answer;
  };

  std::string change_agents(const ControlQuestion& question) const;
  std::string list() const;
  Result<Event> command(Pending& pending);
  Result<std::uint64_t> number_of(const std::string& job) const;
  void resolve(Pending& pending, std::string answer);

  Machine machine_;
  const Agents agents_;
  const CoordinatorLimits limits_;
  Token next_command_;
  std::map<Token, std::shared_ptr<Pending>> commands_;  // belongs to the loop's thread

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Pending>> asked_;  // one for each thread that waits in answer()
  bool closed_ = false;
};

}  // namespace tributary
