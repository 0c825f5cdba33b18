// How far an agent's upload has come in one attempt, and how fast its uplink is: what the
// coordinator learns from the parts of its payloads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/round/common/machine/events.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

// Rate of a link, from the arrival of parts. Time is divided into spans of at least a second and
// three parts that came one after the other; the rate is that of the faster one of the last two, so
// that a machine that was busy for a moment does not make the link look slow.
//
// A sender begins with one part per round trip, until it knows the link. Spans of that time do not
// count, unless parts take much longer than a round trip: then the link is what limits them.
//
// Threads: one at a time. Pure: time is a number that comes with each call.
class UploadRate {
 public:
  // `continues`: the part before this one left its payload incomplete, so that the sender had more
  // to send. `round_trip_ns` is that of a small message; 0: not known.
  void part(TimeNs now, std::uint64_t bytes, bool continues, TimeNs round_trip_ns);
  // The session was lost: the sender begins anew.
  void interrupted() { *this = UploadRate(bytes_per_s_); }

  double bytes_per_s() const { return bytes_per_s_; }  // 0: not measured

  UploadRate() = default;

 private:
  explicit UploadRate(double bytes_per_s) : bytes_per_s_(bytes_per_s) {}
  void begin_span(TimeNs now);

  double bytes_per_s_ = 0;
  double last_span_ = 0;  // bytes per second; 0: there was none
  TimeNs first_ns_ = -1;  // -1: no part has come
  TimeNs span_began_ns_ = 0;
  TimeNs last_ns_ = 0;
  std::uint64_t bytes_ = 0;    // of the span, without the part that it begins with
  std::uint32_t parts_ = 0;    // likewise
  bool may_be_pause_ = false;  // the gap before the first of them
};

// One part, as it is described on the wire.
struct UploadedPart {
  std::uint32_t bucket = 0;
  std::uint32_t stage = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stage_bytes = 0;  // of the payload
};

// An agent's.
struct UploadProgress {
  // Payloads whose size is known, of one codec and stage.
  struct Sizes {
    double bytes = 0;
    double values = 0;
  };
  UploadRate rate;
  double received_bytes = 0;  // each byte once
  std::vector<Sizes> known;   // by group; empty until a part has come
  std::uint32_t bucket = 0;   // of the part that came last
  std::uint32_t stage = 0;
  bool incomplete = false;  // that part was not its payload's last
};

// The payloads of a plan in groups of one codec and stage: sizes that are not known yet follow from
// those of the same group. The plan must outlive it.
class UploadSizes {
 public:
  explicit UploadSizes(const RoundPlan& plan);

  void take(UploadProgress& progress, const UploadedPart& part, TimeNs now,
            TimeNs round_trip_ns) const;
  // Adds an agent's known sizes to those of all agents.
  void add_to(std::span<UploadProgress::Sizes> all, const UploadProgress& progress) const;
  std::size_t groups() const { return groups_.size(); }
  // Bytes of all payloads of the agent. A group of which nothing is known counts as empty.
  double update_bytes(const UploadProgress& progress,
                      std::span<const UploadProgress::Sizes> all) const;

 private:
  struct Group {
    const Codec* codec = nullptr;
    std::uint32_t stage = 0;
    double values = 0;
    bool of_one_agent = false;  // a broadcast has one sender
  };

  const RoundPlan& plan_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> first_group_;  // by bucket: that of its first stage
};

}  // namespace tributary
