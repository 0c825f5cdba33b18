// The progress of an agent's upload in one attempt and the rate of its uplink, as the coordinator
// measures them from arriving parts.
//
// Estimates only: they serve the check of deadlines and the planner, and no payload is accepted or
// refused by them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/round/common/machine/events.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

// The rate of a link, measured from arriving parts. Time is divided into spans of at least one
// second and three consecutive parts. The rate is the higher one of the last two spans, so that a
// machine that was busy for a moment does not make the link look slow.
//
// A sender starts with one part per round trip until it knows the link. Spans of that time do not
// count unless parts take much longer than a round trip, because then the link is the limit.
//
// Pure: every call gets the time. Not thread-safe.
class UploadRate {
 public:
  // Records an arrived part. `continues`: the part before it left the same payload incomplete, so
  // the sender had more to send. `round_trip_ns` is the round trip of a small message; 0: unknown.
  void part(TimeNs now, std::uint64_t bytes, bool continues, TimeNs round_trip_ns);
  // The session was lost, so the sender starts anew. The measured rate stays.
  void interrupted() { *this = UploadRate(bytes_per_s_); }

  double bytes_per_s() const { return bytes_per_s_; }  // 0: not measured

  UploadRate() = default;

 private:
  explicit UploadRate(double bytes_per_s) : bytes_per_s_(bytes_per_s) {}
  void begin_span(TimeNs now);

  double bytes_per_s_ = 0;
  double last_span_ = 0;  // bytes per second; 0: none
  TimeNs first_ns_ = -1;  // -1: no part has arrived
  TimeNs span_began_ns_ = 0;
  TimeNs last_ns_ = 0;
  std::uint64_t bytes_ = 0;    // of the span, without its first part
  std::uint32_t parts_ = 0;    // of the span, without its first part
  bool may_be_pause_ = false;  // the gap before the first counted part may be a pause of the sender
};

// One part, as the message describes it.
struct UploadedPart {
  std::uint32_t bucket = 0;
  std::uint32_t stage = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stage_bytes = 0;  // size of the payload
};

// The upload of one agent.
struct UploadProgress {
  // The payloads of one codec and stage whose size is known.
  struct Sizes {
    double bytes = 0;
    double values = 0;
  };
  UploadRate rate;
  double received_bytes = 0;  // each byte counted once
  std::vector<Sizes> known;   // by group; empty before the first part
  std::uint32_t bucket = 0;   // of the last part
  std::uint32_t stage = 0;
  bool incomplete = false;  // the last part was not the end of its payload
};

// The payloads of a plan, in groups of one codec and stage. Unknown sizes are estimated from the
// known ones of the same group. The plan must outlive the object.
class UploadSizes {
 public:
  explicit UploadSizes(const RoundPlan& plan);

  void take(UploadProgress& progress, const UploadedPart& part, TimeNs now,
            TimeNs round_trip_ns) const;
  // Adds the known sizes of an agent to those of all agents.
  void add_to(std::span<UploadProgress::Sizes> all, const UploadProgress& progress) const;
  std::size_t groups() const { return groups_.size(); }
  // Estimated bytes of all payloads of the agent. A group without any known size counts as empty.
  double update_bytes(const UploadProgress& progress,
                      std::span<const UploadProgress::Sizes> all) const;

 private:
  // The payloads of one codec and stage in the plan.
  struct Group {
    const Codec* codec = nullptr;
    std::uint32_t stage = 0;
    double values = 0;
    bool of_one_agent = false;  // a broadcast, which has one sender
  };

  const RoundPlan& plan_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> first_group_;  // by bucket: the group of its first stage
};

}  // namespace tributary
