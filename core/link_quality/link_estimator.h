// Estimates a link from the transfers that use it anyway: alpha, the latency one way, and beta, the
// seconds per byte.
//
// Queues and other traffic only ever add time, so the estimate follows the fastest readings of a
// bounded window (link_fit.h). A burst of other traffic has little effect, and two faster readings
// count at once. A deviation is a change of the link if it persists for five or more readings in a
// row and is too unlikely to be random; older readings are then discarded.
//
// Readings within kSlot_s count as one, so that many readings of one moment, all in the same queue,
// do not fill the window. A link takes 1.6 KiB of memory, and a reading costs time in proportion to
// the window's 48 readings.
//
// Pure: the caller supplies the times. Used by one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/link_quality/link_estimate.h"
#include "core/link_quality/link_fit.h"

namespace tributary {

// How a transfer was timed, and so how often latency is contained in its time.
enum class TransferKind : std::uint8_t {
  round_trip,  // a small message and its answer; bytes of both directions, 1 if unknown
  train,  // one way: bytes after the first part, and the time from its arrival to the last arrival
  one_way,       // from the first byte sent until the last byte has arrived
  acknowledged,  // from the first byte sent until the sender knows of the arrival
};

// A timed transfer over the link.
struct LinkTransfer {
  TransferKind kind = TransferKind::one_way;
  double bytes = 0;
  double seconds = 0;
  double at_s = 0;  // end of the transfer; all transfers use one clock
};

// An estimated value with its confidence; NaN and 0 if it is unknown.
struct LinkQuantity {
  double value = std::numeric_limits<double>::quiet_NaN();
  double confidence = 0;  // 0 to 1; see link_fit.h
  // Age of the newest reading that contributes to it.
  double age_s = std::numeric_limits<double>::infinity();

  bool known() const { return value == value; }
};

// The estimate of a link at one time.
struct MeasuredLink {
  LinkQuantity alpha_s;
  LinkQuantity beta_s_per_byte;

  bool known() const { return alpha_s.known() && beta_s_per_byte.known(); }
  double confidence() const;  // the lower of the two confidences
  double age_s() const;       // the larger of the two ages
  // Unknown quantities are 0.
  LinkEstimate estimate() const;
};

class LinkEstimator {
 public:
  static constexpr double kSlot_s = 0.5;
  static constexpr std::size_t kWindow = 24;  // number of readings, for latency and for rate each
  static constexpr double kHalfLife_s = 900;  // a reading loses half of its weight in this time
  static constexpr double kBytesMax = 1e15;
  static constexpr double kSecondsMin = 1e-9;
  static constexpr double kSecondsMax = 1e7;

  // Adds a transfer. A transfer is ignored and counted as such if a number is not finite or out of
  // range, or if its time is before that of the last one.
  void add(const LinkTransfer& transfer);

  MeasuredLink measured(double now_s) const;

  std::uint64_t taken() const { return taken_; }
  std::uint64_t ignored() const { return ignored_; }
  std::uint64_t changes() const { return changes_; }  // number of detected changes

 private:
  struct Reading {
    double at_s = 0;  // time of the first reading in its slot
    double bytes = 0;
    double seconds = 0;
    TransferKind kind = TransferKind::one_way;
  };

  // The readings of one quantity, the oldest first. A full window drops its oldest reading.
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
  bool measures_latency(const LinkTransfer& transfer) const;
  double slowness(const Reading& reading) const;
  bool merge(std::span<Reading> window, const Reading& reading) const;
  void take_out_changed(bool latency, double changed_at_s);
  std::size_t older_than_change(std::span<const Reading> window) const;
  std::span<const LinkReading> weighed(
      double now_s, Readings& buffer,
      double before_s = std::numeric_limits<double>::infinity()) const;
  double age_of(const LinkFit& fit, bool of_alpha, double now_s) const;

  Window latency_;
  Window rate_;
  LinkFit fit_;  // fit of all readings at the time of the last one
  double newest_at_s_ = -std::numeric_limits<double>::infinity();
  std::uint64_t taken_ = 0;
  std::uint64_t ignored_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace tributary
