// Records the output of the machines of a federation: notes, readings and reports to a planner.
//
// With ROUND_TRACE in the environment, it also prints notes and kinds of messages.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/session/conversation.h"

namespace tributary::sim_testing {

class MachineLog {
 public:
  std::vector<AgentReported> reported;  // to a planner
  std::vector<RoundPlayed> played;      // to a planner
  std::vector<Reading> readings;        // of the coordinator
  std::vector<Reading> agent_readings;

  // The number of notes with this name; `name` is a note's name or "name:reason".
  int noted(const std::string& name) const {
    const auto found = notes_.find(name);
    return found == notes_.end() ? 0 : found->second;
  }
  // The text of the last note with this name.
  std::string text(const std::string& name) const {
    const auto found = texts_.find(name);
    return found == texts_.end() ? std::string() : found->second;
  }

  // A note is counted by its name, and by its name and reason.
  void note(TimeNs now, const Note& note) {
    const std::string name(note.name);
    ++notes_[name];
    texts_[name] = note.text;
    ++notes_[name + ":" + std::string(note.reason)];
    if (!traced()) return;
    std::printf("%9.3f ms %s %s [%s] %s\n", static_cast<double>(now) / 1e6, name.c_str(),
                std::string(note.reason).c_str(), note.source.c_str(), note.text.c_str());
  }
  void sent(TimeNs now, const std::string& by, ByteSpan frame) const {
    if (!traced()) return;
    const Result<const wire::Frame*> opened = open_frame(frame);
    if (!opened.ok()) return;
    std::printf("%9.3f ms from %s %s\n", static_cast<double>(now) / 1e6, by.c_str(),
                wire::EnumNameMessage((*opened)->message_type()));
  }

 private:
  static bool traced() { return std::getenv("ROUND_TRACE") != nullptr; }

  std::map<std::string, int> notes_;
  std::map<std::string, std::string> texts_;
};

}  // namespace tributary::sim_testing
