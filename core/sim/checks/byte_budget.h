// Every payload byte is sent once: counts what goes over each agent's connection, each direction
// for itself, and reports what is sent again without a reason.
//
// Compared are the payload bytes that were handed to the network with the different bytes among
// them. Two bytes are the same if round key, kind of message, bucket, stage, segment and offset
// are, or, in a download, the hash of what is offered and the offset. Bytes may be sent again if
// something disturbed the agent since: a connection that ended (also by a kill or a restart), a
// session that was lost, a message that the network lost, changed, repeated or reordered. What
// caused that is the caller's to say.
//
// A session that ends although nothing disturbed the agent is counted, and excuses repeats as well.
//
// Not thread-safe. Keeps the ranges of the last rounds and downloads of each agent.
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
  // What a round or download may cost: so many times its different bytes, and one part more.
  static constexpr double kTimesMax = 1.1;
  static constexpr std::uint64_t kBytesMore = 16'384;

  enum Direction : std::uint8_t { up, down };

  // What was compared: a round or download of one agent in one direction.
  struct Tally {
    std::uint64_t checked = 0;
    std::uint64_t exempt = 0;         // disturbed
    std::uint64_t sessions_lost = 0;  // by an agent that nothing had disturbed
    std::uint64_t bytes = 0;          // of payloads, of those checked
    std::uint64_t repeated = 0;       // of these
    double times_max = 0;             // bytes sent for each different byte: the largest

    Tally& operator+=(const Tally& other);
  };

  ByteBudget(std::uint32_t agents, Watch& watch) : watch_(watch), agents_(agents) {}

  // The frame is well-formed: its sender has built it.
  void sent(std::uint32_t agent, Direction direction, const wire::Frame& frame, TimeNs now);
  // A message of this agent did not arrive whole, once and in order, or was not its sender's.
  void disturbed(std::uint32_t agent, TimeNs now);
  // Its connection has ended or begun. It is disturbed until both sides have sent in the
  // same session.
  void connection_changed(std::uint32_t agent, TimeNs now);
  // One side has given its session up.
  void session_lost(std::uint32_t agent, TimeNs now);

  // `round` is the last that is committed: those before it are compared, and downloads that another
  // has followed.
  void committed(std::uint64_t round, TimeNs now);
  // Everything is.
  void finish(TimeNs now);

  const Tally& tally() const { return tally_; }

 private:
  using PayloadKey = std::tuple<wire::Message, std::uint32_t, std::uint32_t, std::uint32_t>;

  struct Record {
    std::map<PayloadKey, ByteRanges> payloads;
    std::uint64_t sent = 0;
    std::uint64_t different = 0;
    TimeNs repeated_at_ns = 0;  // for the first time
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
    std::array<std::map<RoundKey, Record>, 2> rounds;  // by direction
    std::deque<Download> downloads;
    std::deque<Offer> offers;
    bool joined = false;                         // has had a session
    bool away = true;                            // has none, as far as both sides have shown
    std::array<std::uint64_t, 2> sessions = {};  // last one in each direction, while it is away
    TimeNs quiet_at_ns = 0;  // what comes later was not caused by a disturbance before
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
  // No more of it will come.
  void close(const Record& record);
  void compare_downloads(std::size_t agent, std::size_t kept, TimeNs now);

  Watch& watch_;
  std::vector<Watched> agents_;
  Tally tally_;
};

}  // namespace tributary
