// Decides whether a quiet link must be probed, and how. Traffic measures a link for free, so only a
// link that is quiet and insufficiently known is probed. Probes never exceed a small share of the
// bytes that the link has carried, plus a small allowance per hour.
//
// Pure: the caller supplies the times, in seconds of one clock, and sends the probes. Used by one
// thread.
#pragma once

#include <cstdint>
#include <optional>

#include "core/link_quality/link_estimator.h"

namespace tributary {

// When a link is probed, and how many bytes probes may use.
struct LinkProberOptions {
  double quiet_s = 5;           // time without traffic that measures the link
  double spacing_s = 10;        // between probes; doubles with every unanswered probe
  double spacing_max_s = 3600;  // upper bound of the doubling
  // A quantity with less confidence, or older than age_max_s, is probed.
  double confidence_min = 0.5;
  double age_max_s = 300;
  double share_max = 0.005;                      // relative to the bytes carried
  double allowance_bytes_per_hour = 256 * 1024;  // in addition, for each hour that has begun
};

// A round trip is one small message and its echo. A train is a number of parts in a row with equal
// padding; the echo reports the arrival times of the parts.
struct LinkProbe {
  TransferKind kind = TransferKind::round_trip;
  std::uint32_t parts = 1;
  std::uint32_t padding_bytes = 0;  // per part

  // Bytes on the wire in both directions, with envelopes. The budget counts these.
  double bytes() const;
};

class LinkProber {
 public:
  // An envelope with the headers of Tributary, ZeroMQ, TCP and IP, and its acknowledgement.
  static constexpr double kMessageBytes = 512;
  static constexpr std::uint32_t kTrainParts = 8;
  static constexpr double kTrainBytesMin = 16 * 1024;
  static constexpr double kTrainBytesMax = 1024 * 1024;
  // Intended duration of a train, long enough to be timed accurately.
  static constexpr double kTrain_s = 0.02;

  explicit LinkProber(double now_s, const LinkProberOptions& options = {})
      : options_(options), began_s_(now_s), now_s_(now_s), last_carried_s_(now_s) {}

  // Reports traffic that measures the link, in either direction.
  void carried(double now_s, double bytes);
  // The probe to send now, if any. It counts against the budget from this call on.
  std::optional<LinkProbe> next(double now_s, const MeasuredLink& known);
  // Reports the echo of the last probe.
  void answered() { unanswered_ = 0; }

  double probe_bytes() const { return probe_bytes_; }  // sent so far
  double budget_bytes(double now_s) const;             // allowed up to this time

 private:
  bool needs_probe(const LinkQuantity& quantity) const;
  bool take(const LinkProbe& probe);

  LinkProberOptions options_;
  double began_s_;
  double now_s_;  // never decreases
  double last_carried_s_;
  double next_at_s_ = 0;
  double carried_bytes_ = 0;
  double probe_bytes_ = 0;
  std::uint32_t unanswered_ = 0;
  bool train_is_next_ = false;  // if both kinds are necessary, they alternate
};

}  // namespace tributary
