// Decides from the measured rates of the agents' links whether the quorum of an attempt can still
// deliver its updates before the deadline, and computes what would fit if it cannot.
//
// A pure function. An agent whose link has not been measured counts as fast enough, so that no
// verdict is a guess. Cost: one pass over the agents and one selection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tributary {

// The state of an attempt: its time and its agents with their measured links.
struct DeadlineInput {
  // A participant that has not withdrawn. A participant without a session has no rates.
  struct Agent {
    std::string_view agent_id;        // must outlive the call
    double uplink_bytes_per_s = 0;    // 0: not measured
    double update_bytes = 0;          // size of all its payloads, as far as known
    double received_bytes = 0;        // the part of them that has arrived
    double downlink_bytes_per_s = 0;  // 0: not measured
    double down_bytes = 0;            // bytes to send to it before it can begin
  };
  std::vector<Agent> agents;
  std::uint32_t quorum = 1;
  double elapsed_s = 0;   // since the start of the attempt
  double deadline_s = 0;  // of the attempt, from its start
  // The job's deadline. It is longer than the attempt's if the attempt has only a part of it.
  double job_deadline_s = 0;
  std::uint64_t values = 0;  // number of values in an update
};

enum class SlowLink : std::uint8_t { uplink, downlink };

// The finding that the quorum cannot be reached in time.
struct DeadlineVerdict {
  struct Agent {
    std::string agent_id;
    SlowLink link = SlowLink::uplink;
    double bytes_per_s = 0;
    double bytes = 0;    // of the update, or still to be sent to the agent
    double takes_s = 0;  // time of these bytes at this rate
  };
  SlowLink link = SlowLink::uplink;   // of the first agent
  std::vector<Agent> agents;          // the late agents: slow uplinks first, then by falling time
  double deadline_s = 0;              // of the attempt
  double needed_s = 0;                // from the start of the attempt until the quorum is reached
  std::uint64_t deadline_ms_fit = 0;  // for the job: 1.5 times needed_s, in whole seconds
  // Bits per value of an update that the quorum can deliver within the deadline; 0: none fits.
  double bits_per_value_fit = 0;

  // The finding for an operator. Settings are named as in a job's file.
  std::string text(std::uint64_t round) const;
};

// Compares with the attempt's deadline; the job's only scales the recommendation. Empty if the
// deadline can be met, as far as the measurements show, or if fewer agents than the quorum
// participate: then no link is the reason.
std::optional<DeadlineVerdict> check_deadline(const DeadlineInput& input);

}  // namespace tributary
