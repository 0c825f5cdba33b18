// The aggregator of sums in the network as an XDP program: the rules of slot_rules.h, packet by
// packet, before the kernel's network stack.
//
// A reply is made of the packet that caused it and leaves through XDP_TX. A result is longer than a
// contribution. If the driver has no room for it behind the packet, or if a result goes to each
// agent by unicast, a ring buffer takes the reply to the loader. The locks make it safe for several
// queues of a network card. Instructions of BPF's version 3 (compare and exchange) are needed.
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>

// After the kernel's headers, whose types it uses.
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "gateway_maps.h"

#define INLINE static __always_inline

enum { kContribution = 1, kResult = 2, kRefusal = 3 };
enum { kMagic = 0x4e54, kVersion = 1, kWideFlag = 1 };
enum { kGroupLevels = 32, kGroups = 16 };  // 64 values: 32 bytes of levels; groups of a packet

// The numbers of DropReason.
enum Reason {
  kNone,
  kTooShort,
  kTooLong,
  kForeign,
  kReplayed,
  kEarly,
  kOldEpoch,
  kFutureEpoch,
  kUnknownJob,
  kUnknownPhase,
  kWrongCount,
  kWrongTable,
  kWrongAgent,
  kWrongSlot,
  kSumTooWide,
};

struct Header {
  __u16 magic;
  __u8 version;
  __u8 type;
  __u16 job;
  __u8 agent;
  __u8 agents;
  __u32 epoch;
  __u32 sequence;
  __u16 slot;
  __u16 count;
  __u16 table;
  __u8 flags;
  __u8 reason;
};

struct Frame {
  struct ethhdr eth;
  struct iphdr ip;
  struct udphdr udp;
} __attribute__((packed));

// How a slot took a contribution.
struct Taken {
  __u32 reason;
  __u32 count;  // of the phase to reply with
  __u8 repeat;
  __u8 complete;
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, kXdpHandles);
  __type(key, __u32);
  __type(value, __u32);  // index of the job's entry + 1
} handles SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, kXdpJobs);
  __uint(map_flags, BPF_F_MMAPABLE);
  __type(key, __u32);
  __type(value, struct XdpJob);
} jobs SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);  // the loader sets it
  __type(key, __u32);
  __type(value, struct XdpSlot);
} slots SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct XdpCounts);
} counts SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 22);
} replies SEC(".maps");

const volatile struct XdpConfig config SEC(".rodata") = {};

INLINE void* end_of(struct xdp_md* ctx) { return (void*)(long)ctx->data_end; }
INLINE struct Frame* frame_of(struct xdp_md* ctx) { return (void*)(long)ctx->data; }

// Whether the packet is for the aggregator. All others, with fragments and IP options among them,
// belong to the kernel.
INLINE int is_ours(const struct Frame* frame, const void* end) {
  if ((const void*)(frame + 1) > end) return 0;
  if (frame->eth.h_proto != bpf_htons(ETH_P_IP)) return 0;
  if (frame->ip.ihl != 5 || frame->ip.version != 4 || frame->ip.protocol != IPPROTO_UDP) return 0;
  if (frame->ip.frag_off & bpf_htons(0x3fff)) return 0;
  if (frame->udp.dest != bpf_htons(config.listen_port)) return 0;
  if (config.listen_ip && frame->ip.daddr != bpf_htonl(config.listen_ip)) return 0;
  const __u32 length = bpf_ntohs(frame->udp.len);
  return length >= sizeof(struct udphdr) &&
         bpf_ntohs(frame->ip.tot_len) == length + sizeof(struct iphdr) &&
         (const __u8*)&frame->udp + length <= (const __u8*)end;
}

// The first fault in the form of a datagram, in the order of parse_packet().
INLINE __u32 fault_of(const struct Header* h, __u32 bytes, const void* end) {
  if (bytes < sizeof(*h) || (const void*)(h + 1) > end) return kTooShort;
  const int refusal = h->type == kRefusal;
  if (h->magic != kMagic || h->version != kVersion || h->type < kContribution ||
      h->type > kRefusal || (h->flags & ~kWideFlag) || h->reason >= kXdpReasons ||
      (h->reason != 0) != refusal) {
    return kForeign;
  }
  if (h->agents == 0 || h->agents > kXdpAgentsMax || h->agent >= h->agents) return kWrongAgent;
  const __u32 count = h->count;
  if (count > (h->flags ? 512 : 1024)) return kWrongCount;
  if (!refusal && (count == 0 || count % 64 != 0)) return kWrongCount;
  __u32 expected = sizeof(*h);
  if (h->type == kContribution) expected += count / 2;
  if (h->type == kResult) expected += kXdpContributorsBytes + count * (1 + h->flags);
  if (bytes < expected) return kTooShort;
  if (bytes > expected) return kTooLong;
  if (h->type == kResult && h->agents < 64) {
    const __u64* contributors = (const void*)(h + 1);
    if ((const void*)(contributors + 1) > end) return kTooShort;
    if (*contributors >> h->agents) return kWrongAgent;
  }
  return h->type == kContribution ? kNone : kForeign;
}

// The first fault of a contribution that is well formed, in the order of SlotRules::check().
INLINE __u32 misfit_of(const struct Header* h, const struct XdpJob* job, __u64 source) {
  if (h->epoch < job->epoch) return kOldEpoch;
  if (h->epoch > job->epoch) return kFutureEpoch;
  if (h->agents != job->agents) return kWrongAgent;
  if (h->table != job->table) return kWrongTable;
  if (h->flags != job->wide) return kSumTooWide;
  if (h->count > job->count) return kWrongCount;
  if (h->slot >= job->slots) return kWrongSlot;
  const __u64 known = job->sources[h->agent & (kXdpAgentsMax - 1)];
  return known == source || (job->learns && known == 0) ? kNone : kForeign;
}

INLINE __u64 all_agents(const struct XdpJob* job) { return ~0ull >> ((64 - job->agents) & 63); }

// sums = or += T[level]: eight sums of 8 bits, or four of 16, in a word. No sum exceeds its width,
// so nothing carries over. `keep` is 0 for the first contribution.
INLINE void add_narrow(const __u8* levels, const void* end, const __u32* places, __u64* sums,
                       __u64 keep, __u32 groups) {
  for (__u32 g = 0; g < kGroups; ++g) {
    if (g >= groups || (const void*)(levels + kGroupLevels) > end) break;
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      const __u8* four = levels + 4 * w;
      const __u64 values = (__u64)places[four[0]] | (__u64)places[four[1]] << 16 |
                           (__u64)places[four[2]] << 32 | (__u64)places[four[3]] << 48;
      sums[8 * g + w] = (sums[8 * g + w] & keep) + values;
    }
    levels += kGroupLevels;
  }
}

INLINE void add_wide(const __u8* levels, const void* end, const __u32* places, __u64* sums,
                     __u64 keep, __u32 groups) {
  for (__u32 g = 0; g < kGroups / 2; ++g) {
    if (g >= groups || (const void*)(levels + kGroupLevels) > end) break;
#pragma unroll
    for (int w = 0; w < 16; ++w) {
      const __u8* two = levels + 2 * w;
      const __u64 values = (__u64)places[two[0]] | (__u64)places[two[1]] << 32;
      sums[16 * g + w] = (sums[16 * g + w] & keep) + values;
    }
    levels += kGroupLevels;
  }
}

enum Step { kDrop, kStart, kAdd, kNothing, kResendCurrent, kResendPrevious };

// SlotPhases::decide(). The caller has the lock.
INLINE __u32 decide(const struct XdpSlot* slot, const struct XdpJob* job, const struct Header* h,
                    __u32* reason) {
  const int complete = slot->contributors == all_agents(job);
  *reason = kNone;
  if (slot->instance != job->instance) {
    if (h->sequence == 0) return kStart;
    *reason = kUnknownPhase;
  } else if (h->sequence == slot->current) {
    if (slot->contributors >> (h->agent & 63) & 1) return complete ? kResendCurrent : kNothing;
    if (h->count == slot->count[slot->half & 1]) return kAdd;
    *reason = kWrongCount;
  } else if (slot->has_previous && h->sequence == slot->current - 1) {
    return kResendPrevious;
  } else if (h->sequence < slot->current) {
    *reason = kReplayed;
  } else if (h->sequence == slot->current + 1 && complete) {
    return kStart;
  } else {
    *reason = kEarly;
  }
  return kDrop;
}

// Whether the agent's source is the given one, which it becomes at its first good packet. Another
// processor may learn another source at the same time: one of them is foreign then.
INLINE int is_source(struct XdpJob* job, __u32 agent, __u64 source) {
  __u64* known = &job->sources[agent & (kXdpAgentsMax - 1)];
  if (*known == source) return 1;
  return job->learns && __sync_val_compare_and_swap(known, 0, source) == 0;
}

INLINE void take(struct XdpSlot* slot, struct XdpJob* job, const struct Header* h, const void* end,
                 __u64 source, struct Taken* taken) {
  const __u32 groups = h->count / 64;
  bpf_spin_lock(&slot->lock);
  __u32 step = decide(slot, job, h, &taken->reason);
  if (step != kDrop && !is_source(job, h->agent, source)) {
    step = kDrop;
    taken->reason = kForeign;
  }
  __u64 keep = ~0ull;
  if (step == kStart) {
    slot->has_previous = slot->instance == job->instance;
    slot->instance = job->instance;
    slot->current = h->sequence;
    slot->contributors = 0;
    slot->half = (slot->half ^ 1) & 1;
    slot->count[slot->half & 1] = h->count;
    keep = 0;
  }
  const __u32 half = slot->half & 1;
  if (step == kStart || step == kAdd) {
    slot->contributors |= 1ull << (h->agent & 63);
    const __u8* levels = (const __u8*)(h + 1);
    if (job->wide) {
      add_wide(levels, end, job->places, slot->sums[half], keep, groups);
    } else {
      add_narrow(levels, end, job->places, slot->sums[half], keep, groups);
    }
    taken->complete = slot->contributors == all_agents(job);
  } else if (step != kDrop) {
    taken->repeat = 1;
    taken->complete = step != kNothing;
  }
  taken->count = slot->count[(half ^ (step == kResendPrevious)) & 1];
  bpf_spin_unlock(&slot->lock);
}

// Copies a finished phase behind a result's header. The lock was released since it was taken, so
// the phase is looked up again; if it is gone, then all agents have its result.
INLINE int copy_sums(struct XdpSlot* slot, __u32 instance, __u32 sequence, __u8* out,
                     const void* end, __u32 pieces) {
  int copied = 0;
  bpf_spin_lock(&slot->lock);
  __u32 half = slot->half & 1;
  const int current = slot->current == sequence;
  const int previous = slot->has_previous && slot->current - 1 == sequence;
  if (previous) half ^= 1;
  if (slot->instance == instance && (current || previous)) {
    const __u64* sums = slot->sums[half & 1];
    for (__u32 p = 0; p < kGroups; ++p) {
      if (p >= pieces || (const void*)(out + 64) > end) break;
#pragma unroll
      for (int w = 0; w < 8; ++w) ((__u64*)out)[w] = sums[8 * p + w];
      out += 64;
    }
    copied = 1;
  }
  bpf_spin_unlock(&slot->lock);
  return copied;
}

// Turns the frame around, to the group or to the sender, with a datagram of this size.
INLINE void turn_around(struct Frame* frame, __u32 bytes, int to_group) {
  __u8 mac[ETH_ALEN];
  __builtin_memcpy(mac, frame->eth.h_source, ETH_ALEN);
  __builtin_memcpy(frame->eth.h_source, frame->eth.h_dest, ETH_ALEN);
  const __u32 ip = frame->ip.saddr;
  const __u16 port = frame->udp.source;
  frame->ip.saddr = frame->ip.daddr;
  frame->udp.source = frame->udp.dest;
  if (to_group) {
    const __u32 group = config.group_ip;
    const __u8 of_group[ETH_ALEN] = {0x01, 0x00, 0x5e, group >> 16 & 0x7f, group >> 8, group};
    __builtin_memcpy(frame->eth.h_dest, of_group, ETH_ALEN);
    frame->ip.daddr = bpf_htonl(group);
    frame->udp.dest = bpf_htons(config.group_port);
  } else {
    __builtin_memcpy(frame->eth.h_dest, mac, ETH_ALEN);
    frame->ip.daddr = ip;
    frame->udp.dest = port;
  }
  frame->ip.tos = 0;
  frame->ip.id = 0;
  frame->ip.frag_off = bpf_htons(0x4000);
  frame->ip.ttl = to_group ? 1 : 64;
  frame->ip.tot_len = bpf_htons(sizeof(struct iphdr) + sizeof(struct udphdr) + bytes);
  frame->ip.check = 0;
  __u32 sum = 0;
  const __u8* words = (const __u8*)&frame->ip;
#pragma unroll
  for (int i = 0; i < 10; ++i) sum += words[2 * i] | (__u32)words[2 * i + 1] << 8;
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  frame->ip.check = ~sum;
  frame->udp.len = bpf_htons(sizeof(struct udphdr) + bytes);
  frame->udp.check = 0;  // none, as IPv4 permits
}

// Makes the frame as long as a datagram of this size needs.
INLINE int resize(struct xdp_md* ctx, __u32 bytes) {
  long has = end_of(ctx) - (void*)frame_of(ctx);
  asm volatile("" : "+r"(has));  // the verifier refuses differences of pointers in 32 bits
  return bpf_xdp_adjust_tail(ctx, (int)(sizeof(struct Frame) + bytes - has)) == 0;
}

INLINE int refuse(struct xdp_md* ctx, __u32 reason, struct XdpCounts* count) {
  ++count->value[kXdpRefusals];
  if (!resize(ctx, sizeof(struct Header))) goto unsent;
  struct Frame* frame = frame_of(ctx);
  struct Header* h = (void*)(frame + 1);
  if ((void*)(h + 1) > end_of(ctx)) goto unsent;
  h->type = kRefusal;
  h->reason = reason;
  turn_around(frame, sizeof(*h), 0);
  ++count->value[kXdpReflected];
  return XDP_TX;
unsent:
  ++count->value[kXdpUnsent];
  return XDP_DROP;
}

INLINE int is_refused(__u32 reason) {
  return reason == kUnknownJob || reason == kOldEpoch || reason == kUnknownPhase;
}

INLINE int dropped(struct xdp_md* ctx, __u32 reason, struct XdpCounts* count) {
  ++count->value[kXdpDrops + (reason & 15)];
  return is_refused(reason) ? refuse(ctx, reason, count) : XDP_DROP;
}

struct Result {
  struct Header header;
  __u64 contributors;
};

// Sends a result through XDP_TX. Returns 0 if the frame cannot grow.
INLINE int reflect(struct xdp_md* ctx, struct XdpSlot* slot, __u32 instance,
                   const struct Result* result, __u32 pieces, int to_group) {
  const __u32 bytes = sizeof(*result) + 64 * pieces;
  if (!resize(ctx, bytes)) return 0;
  struct Frame* frame = frame_of(ctx);
  struct Result* out = (void*)(frame + 1);
  if ((void*)(out + 1) > end_of(ctx)) return 0;
  __builtin_memcpy(out, result, sizeof(*result));
  if (!copy_sums(slot, instance, result->header.sequence, (__u8*)(out + 1), end_of(ctx), pieces)) {
    return XDP_DROP;
  }
  turn_around(frame, bytes, to_group);
  return XDP_TX;
}

// Asks the loader to send a result. Returns 0 if the ring is full.
INLINE int hand_over(struct XdpSlot* slot, __u32 instance, const struct Result* result,
                     __u32 pieces, __u64 to, __u32 job) {
  struct XdpReply* reply = bpf_ringbuf_reserve(&replies, sizeof(*reply), 0);
  if (!reply) return 0;
  reply->to = to;
  reply->job = job;
  reply->bytes = sizeof(*result) + 64 * pieces;
  __builtin_memcpy(reply->packet, result, sizeof(*result));
  __u8* sums = reply->packet + sizeof(*result);
  if (copy_sums(slot, instance, result->header.sequence, sums, reply + 1, pieces)) {
    bpf_ringbuf_submit(reply, 0);
  } else {
    bpf_ringbuf_discard(reply, 0);
  }
  return 1;
}

SEC("xdp")
int tributary_switch(struct xdp_md* ctx) {
  struct Frame* frame = frame_of(ctx);
  const void* end = end_of(ctx);
  if (!is_ours(frame, end)) return XDP_PASS;
  const __u32 zero = 0;
  struct XdpCounts* count = bpf_map_lookup_elem(&counts, &zero);
  if (!count) return XDP_DROP;

  const struct Header* h = (const void*)(frame + 1);
  const __u32 fault = fault_of(h, bpf_ntohs(frame->udp.len) - sizeof(struct udphdr), end);
  if (fault) return dropped(ctx, fault, count);
  if ((const void*)(h + 1) > end) return XDP_DROP;  // for the verifier

  const __u32 handle = h->job;
  const __u32* entry = bpf_map_lookup_elem(&handles, &handle);
  if (!entry || *entry == 0) return dropped(ctx, kUnknownJob, count);
  const __u32 index = *entry - 1;
  struct XdpJob* job = bpf_map_lookup_elem(&jobs, &index);
  if (!job) return dropped(ctx, kUnknownJob, count);
  const __u64 source = (__u64)bpf_ntohl(frame->ip.saddr) << 16 | bpf_ntohs(frame->udp.source);
  const __u32 misfit = misfit_of(h, job, source);
  if (misfit) return dropped(ctx, misfit, count);

  const __u32 number = job->first_slot + h->slot;
  struct XdpSlot* slot = bpf_map_lookup_elem(&slots, &number);
  if (!slot) return dropped(ctx, kWrongSlot, count);
  const __u32 instance = job->instance;
  struct Taken taken = {};
  take(slot, job, h, end, source, &taken);
  if (taken.reason) return dropped(ctx, taken.reason, count);
  ++count->value[taken.repeat ? kXdpRepeats : kXdpContributions];
  if (!taken.complete) return XDP_DROP;
  ++count->value[taken.repeat ? kXdpResent : kXdpResults];

  struct Result result = {.header = *h, .contributors = all_agents(job)};
  result.header.type = kResult;
  result.header.count = taken.count;
  const __u32 pieces = (taken.count << (job->wide & 1)) / 64;
  const int to_all = !taken.repeat;
  if (!to_all || (config.group_ip && !job->unicast)) {
    const int action = reflect(ctx, slot, instance, &result, pieces, to_all);
    if (action == XDP_TX) ++count->value[kXdpReflected];
    if (action) return action;
  }
  const int handed = hand_over(slot, instance, &result, pieces, to_all ? 0 : source, index);
  ++count->value[handed ? kXdpHandedOver : kXdpUnsent];
  return XDP_DROP;
}

char program_license[] SEC("license") = "Apache-2.0";
