// One run of a scenario: the production state machines, codecs and journals over a virtual clock,
// network and disk. The same scenario and seed give the same run, on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/round/common/machine/actions.h"
#include "core/sim/checks/byte_budget.h"
#include "core/sim/checks/watch.h"
#include "core/sim/scenario/mutation.h"
#include "core/sim/scenario/scenario.h"

namespace tributary {

struct SimOptions {
  std::uint64_t seed = 1;
  Mutation mutation = Mutation::none;
  // After every committed round; returns false to stop.
  std::function<bool(std::uint64_t rounds)> progress = {};
  // What the state machines say.
  std::function<void(TimeNs at, const std::string& machine, const Note& note)> on_note = {};
};

struct SimReport {
  std::uint64_t seed = 0;
  std::uint64_t violations = 0;
  std::vector<Violation> found;  // the first of them
  // Of the last state of every machine, and of everything that happened before.
  std::uint64_t state_hash = 0;
  std::uint64_t rounds_committed = 0;
  std::map<std::string, std::uint64_t> collectives;          // rounds of each
  std::map<std::string, std::uint64_t, std::less<>> faults;  // how often each kind has fired
  std::map<std::string, std::uint64_t> notes;  // what the machines said, "name.reason"
  double virtual_s = 0;
  std::uint64_t events = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  // Sums over all sent messages, by their kind in schemas/frame.fbs. "peers" is what agents sent
  // to each other.
  std::map<std::string, std::uint64_t> bytes_by_message;
  double conservation_error_max = 0;  // as a share of the bound
  ByteBudget::Tally budget;
  double queue_s_max = 0;  // the longest queue of any link
};

// An error only where the run was stopped from outside. It ends at the first violation.
Result<SimReport> simulate(const Scenario& scenario, const SimOptions& options);

}  // namespace tributary
