// What a demonstration has come to: read from the journals that its processes leave, and not from what
// they say of themselves.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/demo_federation.h"
#include "core/base/status.h"
#include "core/store/run_file.h"

namespace tributary {

struct DemoProgress {
  std::uint64_t rounds = 0;
  double accuracy = -1;  // none yet
  std::uint64_t bytes_per_round = 0;
};

// Reads a journal that is being written.
class DemoWatch {
 public:
  explicit DemoWatch(std::string run_file) : file_(std::move(run_file)) {}
  // As far as it can be read just now.
  DemoProgress look();

 private:
  Status read();

  std::string file_;
  std::unique_ptr<RunFile> run_;
  std::uint64_t job_ = 0;
  std::int64_t last_metric_ = 0;
  DemoProgress seen_;
};

struct DemoSwitch {
  std::uint64_t round = 0;
  std::string from;
  std::string to;
  std::string reason;
};

struct DemoOutcome {
  std::uint64_t rounds = 0;
  double seconds = 0;
  double accuracy = 0;  // of the last model, on the coordinator's test set
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::uint64_t bytes_dense = 0;  // up and down, had everybody sent float32
  std::map<std::string, std::uint64_t> codecs;  // rounds of each
  std::map<std::string, std::uint64_t> collectives;
  std::vector<DemoSwitch> switches;
  bool replicas_identical = false;
  // Of all agents; nothing where one was not audited. A share of what rounding explains.
  std::optional<double> conservation_error;
  std::string run_file;

  std::uint64_t bytes() const { return bytes_up + bytes_down; }
};

// All processes have ended.
Result<DemoOutcome> read_outcome(const DemoFederation& federation);

// "thc:bits=4 in 80 rounds"
std::string rounds_text(const std::map<std::string, std::uint64_t>& rounds);

}  // namespace tributary
