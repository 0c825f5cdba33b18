// Runs one seed of a scenario: the production state machines, codecs and journals on a virtual
// clock, network and disk. The same scenario and seed give the same run on every machine.
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
  // Called after every committed round; returns false to stop.
  std::function<bool(std::uint64_t rounds)> progress = {};
  // Receives the notes of the state machines.
  std::function<void(TimeNs at, const std::string& machine, const Note& note)> on_note = {};
};

struct SimReport {
  std::uint64_t seed = 0;
  std::uint64_t violations = 0;
  std::vector<Violation> found;  // the first violations
  // Hash of the final state of every machine and of all events before it.
  std::uint64_t state_hash = 0;
  std::uint64_t rounds_committed = 0;
  // Hash of the model hashes after each committed round. It also depends on all contributors.
  std::uint64_t models_hash = 0;
  std::map<std::string, std::uint64_t> collectives;          // rounds of each
  std::map<std::string, std::uint64_t, std::less<>> faults;  // how often each kind has happened
  std::map<std::string, std::uint64_t> notes;  // number of the machines' notes, by "name.reason"
  double virtual_s = 0;
  std::uint64_t events = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  // Sums over all sent messages, by their kind in schemas/frame.fbs. "peers" is what agents sent to
  // each other.
  std::map<std::string, std::uint64_t> bytes_by_message;
  double conservation_error_max = 0;  // as a share of the bound
  ByteBudget::Tally budget;
  double queue_s_max = 0;  // the longest time in a link's queue
};

// Ends at the first violation, which is part of the report. Returns `cancelled` if options.progress
// stopped the run. Thread-safe: independent runs may use different threads.
Result<SimReport> simulate(const Scenario& scenario, const SimOptions& options);

}  // namespace tributary
