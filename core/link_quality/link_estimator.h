// What a link is like, from the transfers that are made over it anyway: alpha, the latency one way,
// and beta, the seconds a byte takes. Pure: times are handed in.
//
// Queues and other traffic only ever add time, so the estimate lies where the quickest readings of
// a bounded window do (link_fit.h). A burst of other traffic passes with little effect; two quicker
// readings count at once. What persists for five or more readings in a row, in a way that chance
// does not explain, is a change: what was known before it is dropped.
//
// Readings closer together than kSlot_s count as one, so that many in a moment, all in the same
// queue, do not fill the window. One link takes 1.6 KiB, and a reading costs time in proportion to
// the window's 48.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/link_quality/link_estimate.h"
#include "core/link_quality/link_fit.h"

namespace tributary {

enum class TransferKind : std::uint8_t {
  round_trip,    // of a small message; bytes of both ways, 1 where nobody knows
  train,         // one way: bytes behind the first part, and how long after it they had come
  one_way,       // from handing over the first byte until the last has arrived
  acknowledged,  // the same, until the sender knows
};

struct LinkTransfer {
  TransferKind kind = TransferKind::one_way;
  double bytes = 0;
  double seconds = 0;
  double at_s = 0;  // when it ended, by one clock for all
};

struct LinkQuantity {
  double value = std::numeric_limits<double>::quiet_NaN();
  double confidence = 0;                                   // 0 to 1, as link_fit.h has it
  double age_s = std::numeric_limits<double>::infinity();  // of the newest reading that tells of it

  bool known() const { return value == value; }
};

struct MeasuredLink {
  LinkQuantity alpha_s;
  LinkQuantity beta_s_per_byte;

  bool known() const { return alpha_s.known() && beta_s_per_byte.known(); }
  double confidence() const;  // of what is known less well
  double age_s() const;       // of what is known for longer
  // Unknown: 0.
  LinkEstimate estimate() const;
};

class LinkEstimator {
 public:
  static constexpr double kSlot_s = 0.5;
  static constexpr std::size_t kWindow = 24;  // readings that tell of latency, and of rate
  static constexpr double kHalfLife_s = 900;  // in which a reading loses half of its weight
  static constexpr double kBytesMax = 1e15;
  static constexpr double kSecondsMin = 1e-9;
  static constexpr double kSecondsMax = 1e7;

  // Ignores, and counts, what cannot be: sizes and times that are not numbers or out of bounds, and
  // a time before the last one's.
  void add(const LinkTransfer& transfer);

  MeasuredLink measured(double now_s) const;

  std::uint64_t taken() const { return taken_; }
  std::uint64_t ignored() const { return ignored_; }
  std::uint64_t changes() const { return changes_; }  // that were noticed

 private:
  struct Reading {
    double at_s = 0;  // of the first in its slot
    double bytes = 0;
    double seconds = 0;
    TransferKind kind = TransferKind::one_way;
  };

  // Oldest first.
  class Window {
   public:
    std::span<const Reading> all() const { return {readings_.data(), size_}; }
    std::span<Reading> all() { return {readings_.data(), size_}; }
    void push(const Reading& reading);
    void drop_oldest(std::size_t count);

   private:
    std::array<Reading, kWindow> readings_;
    std::size_t size_ = 0;
  };
  using Readings = std::array<LinkReading, 2 * kWindow>;

  static double latencies(TransferKind kind);
  bool tells_of_latency(const LinkTransfer& transfer) const;
  double slowness(const Reading& reading) const;
  bool merge(std::span<Reading> window, const Reading& reading) const;
  void take_out_changed(bool latency, double changed_at_s);
  std::size_t older_than_change(std::span<const Reading> window) const;
  std::span<const LinkReading> weighed(
      double now_s, Readings& room,
      double before_s = std::numeric_limits<double>::infinity()) const;
  double age_of(const LinkFit& fit, bool of_alpha, double now_s) const;

  Window latency_;
  Window rate_;
  LinkFit fit_;  // of all, when the last came
  double newest_at_s_ = -std::numeric_limits<double>::infinity();
  std::uint64_t taken_ = 0;
  std::uint64_t ignored_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace tributary
