// The rules of an aggregator: an array of slots that jobs share, each with the sums of two phases.
//
// A packet in, at most one reply out; where the reply goes is part of the answer. There is no
// clock, no socket and no allocation per packet. Packets may come from anybody: what does not fit
// the job is dropped and counted by reason. Every aggregator (user space, XDP, P4) must give the
// same replies to the same packets; switch_p4/vectors has a recorded set.
//
// The coordinator installs a job's epoch before it tells the agents. It never installs an epoch
// twice, not even after a restart of the aggregator. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/collective/in_network/add_levels.h"
#include "core/collective/in_network/packet.h"
#include "core/collective/in_network/slot_phases.h"

namespace tributary::in_network {

inline constexpr std::uint32_t kJobsMax = 64;
inline constexpr std::uint32_t kSlotsMax = 65'536;

// An address and a port as one number, which the rules only compare; 0 is no source.
using PacketSource = std::uint64_t;

// One epoch of one job, as the coordinator installs it.
struct SlotJob {
  std::uint16_t handle = 0;
  std::uint32_t epoch = 0;
  std::uint32_t agents = 0;
  std::uint32_t granularity = 0;
  std::array<std::uint16_t, 16> places = {};  // T[level], at most `granularity`
  std::uint16_t table = 0;                    // fingerprint of the places
  std::uint32_t slots = 0;                    // quota
  // The source of each agent. Empty: the source of an agent's first good packet in this epoch is
  // its source.
  std::vector<PacketSource> sources = {};
  // Most values in a packet, a multiple of kCountUnit; 0: as many as fit.
  std::uint32_t packet_values = 0;

  // Sums of 8 bits if none can exceed them.
  bool wide() const { return std::uint64_t{granularity} * agents > 255; }
  std::uint32_t count() const { return count_max(wide(), packet_values); }
};

// Counters since the start. Packets are contributions + repeats + drops.
struct SlotCounters {
  std::uint64_t contributions = 0;  // added
  std::uint64_t repeats = 0;        // contributions that were there already
  std::uint64_t results = 0;        // phases completed
  std::uint64_t resent = 0;         // results sent again, to one agent
  std::uint64_t refusals = 0;
  std::array<std::uint64_t, kDropReasons> drops = {};  // by DropReason

  std::uint64_t dropped() const;
};

enum class ReplyTo : std::uint8_t { none, sender, all_agents };

struct SlotReply {
  ReplyTo to = ReplyTo::none;
  DropReason reason = DropReason::none;
  std::uint16_t job = 0;  // of a reply to all agents
  std::size_t bytes = 0;  // written to the caller's buffer
};

class SlotRules {
 public:
  // `slots` are shared by all jobs: 1 to kSlotsMax, of about 2 KiB each.
  static Result<SlotRules> make(std::uint32_t slots);

  // Installs a job, or the next epoch of a job. Returns invalid_argument for a job that makes no
  // sense, mismatch for an epoch that is not above the installed one, and resource_exhausted if
  // slots or jobs are short; then nothing changes.
  Status install(const SlotJob& job);
  // The errors of install(), without installing.
  Status check(const SlotJob& job) const;
  // Frees its slots. Returns not_found for an unknown job.
  Status remove(std::uint16_t handle);

  // Handles a datagram. `reply` has at least kPacketBytesMax bytes.
  SlotReply handle(ByteSpan datagram, PacketSource source, MutableByteSpan reply);

  // The agents' sources of an installed job; 0 for an agent that is not known yet.
  std::span<const PacketSource> sources(std::uint16_t handle) const;
  const SlotCounters& counters() const { return counters_; }
  std::uint32_t slots() const { return static_cast<std::uint32_t>(slots_.size()); }
  std::uint32_t slots_free() const;
  std::size_t jobs() const { return jobs_.size(); }

 private:
  struct Phase {
    alignas(64) std::array<std::uint8_t, kSumsBytesMax> sums;
  };
  struct Slot {
    SlotPhases phases;
    std::uint16_t count = 0;  // values of the current phase
    std::uint16_t previous_count = 0;
    std::uint8_t current = 0;  // index of the current phase's sums
    std::array<Phase, 2> sums;
  };
  struct Job {
    SlotJob setup;
    Places places;
    bool wide = false;
    std::uint32_t count = 0;  // most values in a packet
    bool learns = false;
    std::uint32_t first_slot = 0;
  };

  explicit SlotRules(std::uint32_t slots) : slots_(slots), job_of_handle_(65'536, kNoJob) {}
  Job* find(std::uint16_t handle);
  const Job* find(std::uint16_t handle) const;
  DropReason check_packet(const Job& job, const PacketHeader& header, PacketSource source) const;
  Result<std::uint32_t> first_free(const SlotJob& job) const;
  SlotReply take(Job& job, const Packet& packet, MutableByteSpan reply);
  void add(const Job& job, Slot& slot, const Packet& packet, bool first);
  SlotReply dropped(DropReason reason, const PacketHeader* header, MutableByteSpan reply);
  SlotReply result(const Job& job, const Slot& slot, const PacketHeader& header, bool previous,
                   ReplyTo to, MutableByteSpan reply) const;

  static constexpr std::uint8_t kNoJob = 255;
  std::vector<Slot> slots_;
  std::vector<Job> jobs_;
  std::vector<std::uint8_t> job_of_handle_;  // index in jobs_, or kNoJob
  SlotCounters counters_;
};

}  // namespace tributary::in_network
