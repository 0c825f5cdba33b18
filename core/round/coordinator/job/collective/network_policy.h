// Decides for each attempt whether an aggregator in the network adds the contributions, and has it
// install the epochs of the job.
//
// An epoch is for one set of contributors with one table: the participants that are not late. It is
// used only while it is acknowledged and its aggregator has a session. A new one, with a higher
// number, is installed for every other set, after every attempt that failed, and whenever the
// aggregator connects. A failure pauses the aggregator as it pauses exchanges among peers; an agent
// that was too late does not.
//
// The caller calls prepare() before it chooses, and whenever something may have changed. `job` must
// outlive the object. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/codec/thc/network/network_sums.h"
#include "core/round/coordinator/context/membership.h"
#include "core/round/coordinator/job/collective/failure_pause.h"

namespace tributary {

class NetworkPolicy {
 public:
  explicit NetworkPolicy(const JobContext& job) : job_(job) {}

  // Has an epoch installed if the policy asks for sums in the network and the one in force, or on
  // its way, is not for the participants that are not late.
  void prepare(const RoundPolicy& policy, const Membership& membership, const Bitmap& participants);
  // Handles the aggregator's answer.
  void receive(const AgentSession& session, const wire::EpochInstalled& answer);
  // The aggregator's session has ended. Returns true if the job's epoch was its.
  bool left(const AgentSession& session);
  // The job is over: the aggregator forgets it.
  void end();

  // True while a round should wait a moment for an answer of the aggregator.
  bool waits(std::uint64_t round) const;
  TimeNs wait_ends_ns() const { return state_ == State::asked ? wait_ends_ns_ : kNever; }
  // in_network among the prompt participants, or the star among all, with its reason. While some
  // are late, every fourth round uses the star, because only there can they contribute.
  wire::Collective choose(const CollectiveParticipants& participants, std::uint64_t round,
                          std::string& reason) const;
  // True if a round could use an aggregator: one is connected, all members can, and no exchange has
  // failed lately.
  bool reachable(const Membership& membership, std::uint64_t round) const;
  // The epoch in force, with a new secret for the linear check. Requires that choose() has returned
  // in_network.
  struct Epoch {
    std::string aggregator;  // address of packets
    wire::SumsInNetworkT sums;
  };
  Epoch epoch() const;

  void failed(std::uint64_t round);
  // An attempt was given up because contributors were late. The next one needs an epoch without
  // them.
  void left_some_out();
  void succeeded() { pause_.succeeded(); }
  bool stood_in(std::uint64_t round) const { return pause_.began_in(round); }

 private:
  enum class State { none, asked, installed, refused };
  // The members and the table for which an epoch is.
  struct Required {
    std::uint32_t members_epoch = 0;
    std::string codec;
    Bitmap contributors;
    std::uint32_t agents() const { return contributors.count(); }
    friend bool operator==(const Required&, const Required&) = default;
  };

  AgentSession* aggregator() const;
  std::uint16_t handle() const { return job_.coordinator.sum_handles.take(job_.id()); }
  // Empty if the members could contribute.
  std::string why_not(const Membership& membership) const;
  void install();

  const JobContext& job_;
  State state_ = State::none;
  std::string why_not_ = "no aggregator is connected";
  Required required_;
  thc::NetworkTable table_;
  std::uint64_t session_ = 0;  // of the aggregator
  std::uint32_t epoch_ = 0;    // the last one that was asked for
  std::uint32_t slots_ = 0;    // quota
  std::uint32_t packet_values_ = 0;
  std::uint32_t refusals_ = 0;  // in a row
  TimeNs wait_ends_ns_ = 0;
  FailurePause pause_;
};

}  // namespace tributary
