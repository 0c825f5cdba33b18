// Whether a link that nobody has used for a while is to be probed, and how: traffic tells of a link
// for nothing, so that only a quiet one is, of which too little is known. Never more bytes than a
// small share of what the link has carried, and a little for each hour. Pure: times are handed in.
#pragma once

#include <cstdint>
#include <optional>

#include "core/link_quality/link_estimator.h"

namespace tributary {

struct LinkProberOptions {
  double quiet_s = 5;           // without traffic that tells of the link
  double spacing_s = 10;        // between probes; doubles with each that nobody answers
  double spacing_max_s = 3600;  // however many those are
  double confidence_min = 0.5;  // known with less, or for longer than this: to be probed
  double age_max_s = 300;
  double share_max = 0.005;                      // of the bytes carried
  double allowance_bytes_per_hour = 256 * 1024;  // beside it, for each hour that has begun
};

// A round trip is one small message and its echo. A train is so many parts in a row, each with so
// much padding, of which the echo tells when they came.
struct LinkProbe {
  TransferKind kind = TransferKind::round_trip;
  std::uint32_t parts = 1;
  std::uint32_t padding_bytes = 0;  // of each part

  // On the line, both ways, with envelopes. The budget is kept by these.
  double bytes() const;
};

class LinkProber {
 public:
  // An envelope with ours, ZeroMQ's, TCP's and IP's headers, and what acknowledges it.
  static constexpr double kMessageBytes = 512;
  static constexpr std::uint32_t kTrainParts = 8;
  static constexpr double kTrainBytesMin = 16 * 1024;
  static constexpr double kTrainBytesMax = 1024 * 1024;
  static constexpr double kTrain_s = 0.02;  // that a train should take, to be timed well

  explicit LinkProber(double now_s, const LinkProberOptions& options = {})
      : options_(options), began_s_(now_s), now_s_(now_s), last_carried_s_(now_s) {}

  // Traffic that tells of the link, in either direction.
  void carried(double now_s, double bytes);
  // What is to be sent now, and is in the budget from here on.
  std::optional<LinkProbe> next(double now_s, const MeasuredLink& known);
  // The echo of the last one has come.
  void answered() { unanswered_ = 0; }

  double probe_bytes() const { return probe_bytes_; }  // so far
  double budget_bytes(double now_s) const;             // that may have been sent by then

 private:
  bool wanted(const LinkQuantity& quantity) const;
  bool take(const LinkProbe& probe);

  LinkProberOptions options_;
  double began_s_;
  double now_s_;  // never goes backwards
  double last_carried_s_;
  double next_at_s_ = 0;
  double carried_bytes_ = 0;
  double probe_bytes_ = 0;
  std::uint32_t unanswered_ = 0;
  bool train_is_next_ = false;  // when both are wanted they take turns
};

}  // namespace tributary
