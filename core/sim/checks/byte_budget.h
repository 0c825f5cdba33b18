// Checks that every payload byte is sent only once. It counts the bytes on each agent's connection,
// separately for each direction, and reports bytes that were repeated without a reason.
//
// It compares the number of payload bytes that were passed to the network with the number of
// distinct bytes among them. Two bytes are equal if they have the same round key, kind of message,
// bucket, stage, segment and offset. In a download they are equal if they have the same hash of the
// offered model and the same offset. A repetition is allowed if the agent was disturbed since: its
// connection ended (also by a kill or a restart), a session was lost, or the network lost, changed,
// repeated or reordered a message. The caller reports disturbances and their causes.
//
// A session that ends although nothing disturbed the agent is counted, and also allows repetitions.
//
// Not thread-safe. Memory: the byte ranges of the last rounds and downloads of each agent.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/bytes/byte_ranges.h"
#include "core/round/common/machine/round_key.h"
#include "core/sim/checks/watch.h"
#include "schemas/frame_generated.h"

namespace tributary {

class ByteBudget {
 public:
  // Limit of a round or download: this factor times its distinct bytes, plus one part (in bytes).
  static constexpr double kTimesMax = 1.1;
  static constexpr std::uint64_t kBytesMore = 16'384;

  enum Direction : std::uint8_t { up, down };

  // Totals of the comparisons. One comparison covers a round or a download of one agent in one
  // direction.
  struct Tally {
    std::uint64_t checked = 0;
    std::uint64_t exempt = 0;         // not compared, because of a disturbance
    std::uint64_t sessions_lost = 0;  // sessions lost by an agent that nothing had disturbed
    std::uint64_t bytes = 0;          // payload bytes of the checked ones
    std::uint64_t repeated = 0;       // repeated bytes among them
    double times_max = 0;             // largest ratio of sent bytes to distinct bytes

    Tally& operator+=(const Tally& other);
  };

  ByteBudget(std::uint32_t agents, Watch& watch) : watch_(watch), agents_(agents) {}

  // Counts a frame that was passed to the network. It must be well-formed, because its sender built
  // it.
  void sent(std::uint32_t agent, Direction direction, const wire::Frame& frame, TimeNs now);
  // A message of this agent did not arrive exactly once, in order and unchanged, or its sender did
  // not send it.
  void disturbed(std::uint32_t agent, TimeNs now);
  // The agent's connection has ended or begun. The agent counts as disturbed until both sides have
  // sent a frame of the same session.
  void connection_changed(std::uint32_t agent, TimeNs now);
  // One side has given up the agent's session.
  void session_lost(std::uint32_t agent, TimeNs now);

  // Round `round` was committed. Compares the rounds before it and all downloads that a later one
  // has replaced.
  void committed(std::uint64_t round, TimeNs now);
  // Compares everything that is left.
  void finish(TimeNs now);

  const Tally& tally() const { return tally_; }

 private:
  using PayloadKey = std::tuple<wire::Message, std::uint32_t, std::uint32_t, std::uint32_t>;

  struct Record {
    std::map<PayloadKey, ByteRanges> payloads;
    std::uint64_t sent = 0;
    std::uint64_t different = 0;
    TimeNs repeated_at_ns = 0;  // time of the first repetition
    bool exempt = false;
  };
  struct Download {
    std::uint64_t hash = 0;
    Record record;
  };
  struct Offer {
    std::uint64_t transfer = 0;
    std::uint64_t hash = 0;
  };
  struct Watched {
    std::array<std::map<RoundKey, Record>, 2> rounds;  // indexed by direction
    std::deque<Download> downloads;
    std::deque<Offer> offers;
    bool joined = false;  // it has had a session
    bool away = true;     // it has no session, as far as both sides have shown
    std::array<std::uint64_t, 2> sessions = {};  // last session in each direction, while away
    // Repetitions from this time on were not caused by an earlier disturbance.
    TimeNs quiet_at_ns = 0;
  };

  static bool quiet(const Watched& agent, TimeNs now) {
    return !agent.away && now >= agent.quiet_at_ns;
  }
  void count_part(Watched& agent, Direction direction, wire::Message kind, const wire::Part& part,
                  TimeNs now);
  void count_download(Watched& agent, std::uint64_t transfer, ByteRange range, TimeNs now);
  void offered(Watched& agent, const wire::TransferOffer& offer);
  static void add(const Watched& agent, Record& record, const PayloadKey& key, ByteRange range,
                  TimeNs now);
  void compare(std::size_t agent, Direction direction, const std::string& what,
               const Record& record, TimeNs now);
  // Adds the record to the totals; no more of it is sent.
  void close(const Record& record);
  void compare_downloads(std::size_t agent, std::size_t kept, TimeNs now);

  Watch& watch_;
  std::vector<Watched> agents_;
  Tally tally_;
};

}  // namespace tributary
