// What a demonstration has come to: read from the journals that its processes leave, and not from
// what they say of themselves.
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

// A round that goes another way than the one before it.
struct DemoSwitch {
  std::uint64_t round = 0;
  std::string from;  // codec with its ratio, and collective
  std::string to;
  std::string reason;
};

struct DemoProgress {
  std::uint64_t rounds = 0;
  double accuracy = -1;  // none yet
  std::uint64_t bytes_per_round = 0;
  std::vector<DemoSwitch> switches;  // since the last look
};

// Reads a journal that is being written.
class DemoWatch {
 public:
  explicit DemoWatch(std::string run_file) : file_(std::move(run_file)) {}
  // As far as it can be read just now.
  DemoProgress look();

 private:
  Status read();
  void note_switch(const RoundRecord& round);

  std::string file_;
  std::unique_ptr<RunFile> run_;
  std::uint64_t job_ = 0;
  std::int64_t last_metric_ = 0;
  std::string choice_;  // of the last round that was seen
  DemoProgress seen_;
};

struct DemoOutcome {
  report::RunReport report;
  bool replicas_identical = false;  // those that the agents have stored, to the bit
  // Of all agents; nothing where one was not audited. A share of what rounding explains.
  std::optional<double> conservation_error;
};

// All processes have ended. Writes the report beside the journals, with these pictures in it.
Result<DemoOutcome> read_outcome(const DemoFederation& federation,
                                 const std::vector<report::PagePicture>& pictures);

}  // namespace tributary
