// What operators ask of a coordinator, as JSON (docs/jobs.md), and how it comes to an answer: the
// thread that asks, the control socket's or that of watchers, reads the question and waits; the
// daemon's loop asks the state machine.
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
#include "core/round/coordinator/coordinator.h"

namespace tributary {

class ControlDesk {
 public:
  struct Machine {
    std::function<std::vector<Coordinator::JobView>()> jobs;
    std::function<std::vector<Coordinator::AgentView>()> agents;
  };
  // Who may come in. Any thread.
  struct Agents {
    std::function<Status(const AllowedAgent&)> allow;
    std::function<Status(const std::string& id)> revoke;
  };

  // The first command has this number, and later ones are higher.
  ControlDesk(Machine machine, Agents agents, Token first_command)
      : machine_(std::move(machine)), agents_(std::move(agents)), next_command_(first_command) {}

  // Any thread. Waits until the loop has taken the question and the journal the command.
  std::string answer(std::string_view question);

  // The loop's thread: answers what can be answered at once, and hands out the commands to feed.
  std::vector<Event> take();
  // True if the command was one of ours.
  bool done(const CommandDone& done);
  // Nobody waits any longer, now or later: the daemon ends.
  void close();

 private:
  struct Pending {
    ControlQuestion question;
    SubmitJob submit = {};
    std::optional<std::string> answer;
  };

  std::string change_agents(const ControlQuestion& question) const;
  std::string list() const;
  Result<Event> command(Pending& pending);
  Result<std::uint64_t> number_of(const std::string& job) const;
  void resolve(Pending& pending, std::string answer);

  Machine machine_;
  const Agents agents_;
  Token next_command_;
  std::map<Token, std::shared_ptr<Pending>> commands_;  // the loop's

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Pending>> asked_;  // one for each thread that waits in answer()
  bool closed_ = false;
};

}  // namespace tributary
