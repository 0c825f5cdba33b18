// Plays the exchange of one round on the true network, message by message: encoding, sending,
// adding and decoding, by the trees of core/collective/routes.h. Among peers members upload the
// results to the coordinator, each its segments of them, and the commit comes back.
#pragma once

#include <cstdint>
#include <vector>

#include "coordinator/closed_loop/truth/true_network.h"
#include "core/cost/exchange_cost.h"

namespace tributary {

// The true work of an exchange.
struct TrueWork {
  wire::Collective kind = wire::Collective::star;
  std::uint32_t buckets = 1;
  // Stages of one bucket, with the CPU times of the coordinator's machine.
  std::vector<StagePayload> stages = {};
  double decode_s = 0;      // of a bucket
  double cpu_slowdown = 1;  // of the agents
  double message_s = 0;     // CPU time per message at each end
  // Among peers: a member uploads when its exchange is complete, while it trains for the next
  // round. Otherwise it uploads each bucket's results as soon as it has them.
  bool upload_last = false;
  std::vector<double> upload_share = {};  // factor of each member's payloads; empty: 1
  std::vector<double> begins_s = {};      // end of each member's training
};

struct TrueExchanged {
  // A member's uploads to the coordinator, as it measures them (RoundMember).
  struct Upload {
    double first_s = 0;
    double last_s = 0;
    double bytes = 0;
    double bytes_after_first = 0;
  };
  // A transfer between members that was large enough to measure the link.
  struct Pair {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    double bytes = 0;
    double seconds = 0;
    double at_s = 0;
  };
  double ends_s = 0;
  std::vector<Upload> uploads;  // by member
  // Among peers, from a member's report, when it has all results, to its commit (Report.wait_s).
  std::vector<double> waits_s = {};
  std::vector<Pair> pairs;
  std::uint64_t messages = 0;
};

TrueExchanged play_exchange(const TrueFederation& federation,
                            const std::vector<std::uint32_t>& members, TcpWindows& windows,
                            const TrueWork& work);

// The number of segments in which the members upload a result.
std::uint32_t true_segments(double result_bytes, std::uint32_t members);

// Returns the number of messages of an exchange, without playing it.
double messages_of(wire::Collective kind, const std::vector<StagePayload>& stages, double members,
                   double buckets);

}  // namespace tributary
