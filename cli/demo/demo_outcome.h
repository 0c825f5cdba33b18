// Reads the result of a demonstration from the journals that its processes leave, not from what
// they print.
//
// read_outcome() costs one pass over the journals and memory for one model at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/demo/demo_federation.h"
#include "cli/report/run_report.h"
#include "core/base/status.h"
#include "core/store/coordinator/run_file.h"

namespace tributary {

// A round whose codec, ratio or collective differs from the round before.
struct DemoSwitch {
  std::uint64_t round = 0;
  std::string from;  // codec with its ratio, and collective
  std::string to;
  std::string reason;
};

// The state of the run at one look. Numbers of rounds are those that are committed.
struct DemoProgress {
  std::uint64_t rounds = 0;
  double accuracy = -1;  // negative: none yet
  std::uint64_t bytes_per_round = 0;
  std::vector<DemoSwitch> switches;  // since the last call
};

// Reads a journal while the coordinator writes it.
class DemoWatch {
 public:
  explicit DemoWatch(std::string run_file) : file_(std::move(run_file)) {}
  // Returns what can be read at the moment; never fails.
  DemoProgress look();

 private:
  Status read();
  // Records a round whose choice differs from the previous one.
  void note_switch(const RoundRecord& round);

  std::string file_;
  std::unique_ptr<RunFile> run_;
  std::uint64_t job_ = 0;
  std::int64_t last_metric_ = 0;
  std::string choice_;  // of the last round that was read
  DemoProgress seen_;
};

// The proofs beside the report: each is read from the journals or logs of the agents.
struct DemoOutcome {
  report::RunReport report;
  bool replicas_identical = false;  // bit for bit, as stored by the agents
  // The largest error of all agents, as a share of the rounding bound: up to 1 is explained by
  // rounding. Empty if any agent was not audited.
  std::optional<double> conservation_error;
};

// Must be called after all processes have ended. Writes the report, which includes the pictures,
// beside the journals.
Result<DemoOutcome> read_outcome(const DemoFederation& federation,
                                 const std::vector<report::PagePicture>& pictures);

}  // namespace tributary
