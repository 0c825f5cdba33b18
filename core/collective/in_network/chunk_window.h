// How many chunks of an agent may be under way, when one counts as lost, and when one is repeated
// without that.
//
// A chunk is lost if a chunk that was sent enough later, and only once, has its result. The result
// of a chunk needs the contributions of all agents and a packet back, so at a small loss of packets
// many chunks miss something; the window halves only if more are lost in a window of chunks than a
// loss of kPacketLossMax and chance explain, and otherwise grows by one, a small one by a quarter.
// It stops growing when round trips show that the chunks only wait in a queue.
//
// Nothing shows the loss of the last chunks, so the oldest one is probed soon after its result was
// due, as by TCP's tail loss probe (RFC 8985). Without an answer to some probes there is no loss:
// all agents wait for a slow one. One chunk is then repeated at each time-out, with growing pauses,
// which follow the measured round trips, as TCP's do (RFC 6298). After the first result, all chunks
// under way have the time of new ones. If that result is of a repeat and no other chunk has one,
// then no agent was slow, but packets were lost: all overdue chunks are repeated together. A
// chunk that was under way during time-outs counts as a round trip of four time-outs at most.
//
// If a whole window of chunks has its results only after repeats, the path of the first results is
// dead: multicast that no router forwards, where the answers to repeats come by unicast. A smaller
// window would not help, so it keeps its size, and repeats are round trips. All overdue chunks are
// repeated together then, and also if results have come, but none without a repeat.
//
// Pure; times are in nanoseconds. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tributary::in_network {

struct SlotClientOptions {
  std::uint32_t slots = 64;
  std::uint32_t window = 32;  // at the start
  std::uint32_t agents = 4;   // of the job
  std::int64_t timeout_ns_first = 20'000'000;
  std::int64_t timeout_ns_min = 2'000'000;
  std::int64_t timeout_ns_max = 500'000'000;
};

class ChunkWindow {
 public:
  // Share of lost packets up to which the window does not shrink.
  static constexpr double kPacketLossMax = 0.05;
  static constexpr std::uint32_t kProbesMax = 4;

  // Requires at least one slot, a window of at least 1, and positive times.
  explicit ChunkWindow(const SlotClientOptions& options);

  std::uint32_t slots() const { return options_.slots; }
  std::uint32_t chunks() const { return chunks_; }
  // How long the oldest chunk may be under way until it is repeated without a sign of its loss. The
  // first few times after a result that is little more than a round trip, then a time-out.
  std::int64_t patience_ns() const;
  // True if a chunk that was last sent at `sent_ns` is lost.
  bool is_lost(std::int64_t sent_ns, bool repeated) const;

  // A chunk has its result. `lost`: is_lost() was true, or a probe of it had no
  // answer.
  void on_result(bool repeated, bool lost);
  // A chunk that was last sent at `sent_ns` has its result. After a repeat, the result may be the
  // answer to either packet, or may have waited for the repeat of another agent, so it shows
  // nothing about time and order. Only if all results need repeats, it is taken for the answer to
  // the last one if it took as long as any round trip.
  void on_answer(std::int64_t sent_ns, std::int64_t now_ns, bool repeated);
  // Patience with a chunk begins at its sending, but not before the last time-out, or the result
  // that ended the silence after it.
  std::int64_t waits_since_ns(std::int64_t sent_ns) const {
    return std::max(sent_ns, silence_.timed_out_ns);
  }
  // The patience with a chunk that was sent at `sent_ns` has passed. Returns what to repeat: that
  // chunk, the oldest one of the epoch, or all that are overdue. Time-outs of chunks that were
  // under way together count once.
  enum class Overdue : std::uint8_t { probe, oldest, all };
  Overdue on_overdue(std::int64_t sent_ns, std::int64_t now_ns);

 private:
  struct Silence {
    std::int64_t timed_out_ns = INT64_MIN / 2;  // the last time-out, or the result after it
    std::uint32_t backoff = 0;                  // doublings of the time-out
    std::uint32_t probes = 0;                   // since the last result
    std::int64_t longest_ns = INT64_MAX;        // of round trips during time-outs
    bool by_repeats = false;  // since the last time-out only repeats had results, one at least
  };

  void count(std::uint32_t lost);
  bool queued() const;
  std::int64_t timeout_ns() const;
  std::int64_t probe_ns() const;
  // All agents may wait for a slow one.
  bool one_by_one() const {
    return !silence_.by_repeats && !only_repeats_ && (smoothed_ns_ != 0 || !answered_);
  }
  bool probing() const { return silence_.probes < kProbesMax && probe_ns() < timeout_ns(); }

  const SlotClientOptions options_;
  const double lost_share_max_;  // of a window
  std::uint32_t chunks_;
  std::uint32_t counted_ = 0;             // results since the window last changed
  std::uint32_t lost_ = 0;                // of them
  std::uint32_t first_results_ = 0;       // of them, without a repeat
  bool only_repeats_ = false;             // had results in the window before
  std::int64_t answered_ns_ = INT64_MIN;  // sending of the newest chunk that has its result
  bool answered_ = false;                 // by any result, also after a repeat
  std::int64_t shortest_ns_ = INT64_MAX;  // round trip
  std::int64_t smoothed_ns_ = 0;          // round trip; 0: not measured
  std::int64_t deviation_ns_ = 0;
  Silence silence_;
};

}  // namespace tributary::in_network
