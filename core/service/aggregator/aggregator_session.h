// One epoch of an agent with an aggregator in the network: its UDP ports, and its buckets in their
// order. The next bucket begins when all packets of the one before have been sent once.
//
// A bucket that fails or is stopped ends the epoch for this agent, because its slots are then at
// other phases than those of the others: every later bucket of the epoch ends with an error. All
// calls are made on the link's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/collective/in_network/bucket_exchange.h"
#include "core/net/udp/udp_port.h"
#include "core/service/aggregator/aggregator_commands.h"
#include "core/service/aggregator/aggregator_telemetry.h"

namespace tributary {

struct AggregatorSessionOptions {
  UdpAddress listen = {};     // of the interface towards the aggregator; port 0: any
  UdpAddress group = {};      // multicast group of the results; empty: each agent gets its own
  std::uint32_t window = 32;  // packets under way at the start
  bool segments = true;
};

// They outlive the session. `counters` are those of all sessions.
struct AggregatorSessionParts {
  AggregatorCommands& commands;
  const Waker& waker;
  AggregatorTelemetry& telemetry;
  AggregatorCounters& counters;
  const Clock& clock;
  const std::function<void(NetworkSummed)>& post;
};

class AggregatorSession {
 public:
  AggregatorSession(const AggregatorSessionParts& parts, const AggregatorSessionOptions& options,
                    const SumInNetwork& epoch);

  // Runs until the commands have another epoch than number `number`.
  void run(std::uint64_t number);

 private:
  static constexpr std::size_t kBatch = 32;  // packets for each system call
  // At least every so many looks at the ports the deadline is checked.
  static constexpr std::uint32_t kLooksMax = 64;

  Status open_ports(const AggregatorSessionOptions& options);
  void accept(AggregatorCommands::Work work);
  bool begin_next();
  void answer_completed();
  void fail(const Status& status);
  void answer_first(Status status);
  Status failure() const;
  bool send();
  Result<std::size_t> receive();
  void take(ByteSpan datagram, UdpAddress from);
  void count();
  void wait() const;
  std::int64_t now_ns() const { return parts_.clock.now().count(); }

  // A bucket that has begun.
  struct Running {
    SumInNetwork bucket;
    std::shared_ptr<Bytes> sums;
  };

  const AggregatorSessionParts parts_;
  const SumInNetwork epoch_;  // without levels
  UdpAddress aggregator_;
  Status over_;  // an error: the epoch has ended for this agent
  std::unique_ptr<UdpPort> port_;
  std::unique_ptr<UdpPort> group_;  // null: results come to `port_` only
  in_network::BucketExchange exchange_;
  std::deque<AggregatorCommands::Waiting> waiting_;
  std::deque<Running> running_;
  std::uint32_t answered_ = 0;  // buckets before the first of `running_`
  std::vector<in_network::BucketPacket> packets_;
  AggregatorCounters before_;  // all sessions before this one
  std::uint64_t foreign_ = 0;  // datagrams of others than the aggregator
};

}  // namespace tributary
