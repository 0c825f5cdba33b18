// The maps that the XDP program of the aggregator and its loader share.
//
// C and C++ read this file, so it has plain structs with fixed sizes only. All numbers are in the
// machine's order. The loader writes jobs and the configuration; the XDP program writes slots,
// counters, learned sources and results.
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>

enum {
  kXdpHandles = 65536,
  kXdpJobs = 256,  // entries of the job map; the rules allow 64 jobs at a time
  kXdpAgentsMax = 64,
  kXdpWords = 128,  // sums of one phase, eight bytes each
  kXdpHeaderBytes = 24,
  kXdpContributorsBytes = 8,
  kXdpPacketBytesMax = 24 + 8 + 8 * kXdpWords,
  kXdpReasons = 15,  // DropReason of core/collective/in_network/packet.h
};

// Counters; those of drops follow, one for each reason.
enum XdpCounter {
  kXdpContributions,
  kXdpRepeats,
  kXdpResults,
  kXdpResent,
  kXdpRefusals,
  kXdpReflected,   // replies that left through XDP_TX
  kXdpHandedOver,  // replies that the loader was asked to send
  kXdpUnsent,      // replies that neither path could take
  kXdpDrops,
  kXdpCounters = kXdpDrops + kXdpReasons,
};

struct XdpCounts {
  __u64 value[kXdpCounters];
};

struct XdpConfig {
  __u32 listen_ip;  // 0: any
  __u32 group_ip;   // 0: the loader sends each agent its result
  __u16 listen_port;
  __u16 group_port;
};

// One epoch of one job. An entry is written while no handle refers to it. `instance` is unique in
// the life of the maps: a slot that has another one is empty.
struct XdpJob {
  __u32 instance;
  __u32 epoch;
  __u32 first_slot;
  __u32 slots;
  __u16 handle;
  __u16 table;
  __u8 agents;
  __u8 wide;
  __u8 learns;
  __u8 unicast;  // 1: results go to each agent, although there is a group
  __u16 count;   // most values in a packet
  __u8 reserved[2];
  __u64 sources[kXdpAgentsMax];  // address << 16 | port; 0: not known yet
  __u32 places[256];             // both values of a byte; the one of the high nibble is shifted by
                                 // the width of a sum
};

struct XdpSlot {
  struct bpf_spin_lock lock;  // of all that follows
  __u32 instance;             // 0: never used
  __u32 current;              // sequence
  __u16 count[2];             // values of each half
  __u8 half;                  // the half of the current phase; the other has the phase before
  __u8 has_previous;
  __u8 reserved[6];
  __u64 contributors;
  __u64 sums[2][kXdpWords];
};

// A reply that the loader sends.
struct XdpReply {
  __u64 to;   // a source; 0: the group, or all agents of the job
  __u32 job;  // index of its entry
  __u32 bytes;
  __u8 packet[kXdpPacketBytesMax];
};
