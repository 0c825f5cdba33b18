// Tells whether the quorum of an attempt can still deliver its updates before the deadline, by the
// measured rates of the agents' links, and what would fit if it cannot.
//
// Pure: nothing is remembered between two calls. An agent whose link has not been measured counts
// as fast enough, so that a verdict is never a guess. Cost: one pass over the agents and one
// selection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tributary {

struct DeadlineInput {
  // A participant that has not withdrawn. One without a session has no rates.
  struct Agent {
    std::string_view agent_id;        // outlives the call
    double uplink_bytes_per_s = 0;    // 0: not measured
    double update_bytes = 0;          // of all its payloads, as far as their sizes are known
    double received_bytes = 0;        // of these
    double downlink_bytes_per_s = 0;  // 0: not measured
    double down_bytes = 0;            // to be sent to it before it can begin
  };
  std::vector<Agent> agents;
  std::uint32_t quorum = 1;
  double elapsed_s = 0;   // since the attempt began
  double deadline_s = 0;  // of the attempt, from its beginning
  double job_deadline_s =
      0;  // as the job has it; longer than the attempt's where that has a part of it
  std::uint64_t values = 0;  // of an update
};

enum class SlowLink : std::uint8_t { uplink, downlink };

// The quorum cannot be reached in time.
struct DeadlineVerdict {
  struct Agent {
    std::string agent_id;
    SlowLink link = SlowLink::uplink;
    double bytes_per_s = 0;
    double bytes = 0;    // of the update, or what is still to be sent to the agent
    double takes_s = 0;  // these bytes at this rate
  };
  SlowLink link = SlowLink::uplink;  // of the first agent
  std::vector<Agent>
      agents;             // that come too late, the slowest first; those with a slow uplink first
  double deadline_s = 0;  // of the attempt
  double needed_s = 0;    // until the quorum is reached, from the attempt's beginning
  std::uint64_t deadline_ms_fit = 0;  // of the job: needed_s and half of it, in whole seconds
  // Bits per value of an update that the quorum could deliver within the deadline; 0: nothing fits.
  double bits_per_value_fit = 0;

  // For the operator, with the settings as they are typed in a job's file.
  std::string text(std::uint64_t round) const;
};

std::optional<DeadlineVerdict> check_deadline(const DeadlineInput& input);

}  // namespace tributary
