// Every cap on what crosses the wire, and why it is what it is. A frame above a cap is refused by
// whoever would build it and by whoever would open it; nothing is allocated for a claim above one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tributary::wire {

// What this build speaks. One number per set of rules; docs/wire.md says when it grows.
constexpr std::uint32_t kProtocolVersionMin = 2;
constexpr std::uint32_t kProtocolVersionMax = 2;

// Numbers of 8 bytes are read in place.
constexpr std::size_t kFrameAlignment = 8;
// The offset of the root, the identifier, and an empty table: less cannot be a frame.
constexpr std::size_t kFrameBytesMin = 16;

// The largest frame is a job: 64 Ki layers with names of 40 bytes. kinds.h says which kind may be
// how large.
constexpr std::size_t kFrameBytesMax = 8u << 20;
constexpr std::size_t kLongFrameBytesMax = 2u << 20;    // 16 Ki buckets; 8 Ki peers with their keys
constexpr std::size_t kListFrameBytesMax = 256u << 10;  // telemetry, settled rounds
constexpr std::size_t kTextFrameBytesMax = 64u << 10;   // a few short lists
constexpr std::size_t kSmallFrameBytesMax = 16u << 10;  // numbers and texts, or a bitmap
constexpr std::size_t kFixedFrameBytesMax = 1u << 10;   // numbers and a name or two

// The deepest path is Frame, Commit, RoundOutcome, ContributorSet; the rest is room to grow.
constexpr std::uint32_t kFrameDepthMax = 12;
// Verifying costs time by the table, and a list may name one table many times.
constexpr std::uint32_t kFrameTablesMax = 80u << 10;

// A payload part: small enough that a window of them fits a device's memory and that a lost one
// costs 3 s at 10 Mbit/s, large enough that its frame is under a thousandth of it.
constexpr std::uint32_t kPayloadBytesMax = 4u << 20;
// The whole payload of one stage of one bucket: no codec needs more (core/codec/payload.h).
constexpr std::uint64_t kStageBytesMax = 1ull << 30;
constexpr std::uint32_t kBucketValuesMax = 1u << 26;
// Parts may be much smaller than the cap, down to a packet, but not dust.
constexpr std::uint32_t kPartsMax = 1u << 20;
// What a layer map may hold (core/update/layer_map.h).
constexpr std::uint64_t kModelValuesMax = 1ull << 34;
constexpr std::uint32_t kLayersMax = 64u << 10;
constexpr std::uint32_t kDimensionsMax = 8;
// The largest model with the state of its optimizer, three values for each of the model's.
constexpr std::uint64_t kTransferBytesMax = kModelValuesMax * 4 * 4;

// Bits of a bitmap: a bitmap of 2 KiB at most, in every commit and every partial sum.
constexpr std::uint32_t kMembersMax = 16u << 10;
constexpr std::uint32_t kBucketsMax = 16u << 10;
// An in-network aggregator closes a bucket chunk by chunk; a commit must still fit its frame.
constexpr std::uint32_t kOutcomesMax = 32u << 10;
constexpr std::uint32_t kContributorSetsMax = 1024;
constexpr std::uint32_t kExchangesMax = 256;
constexpr std::uint32_t kStagesMax = 8;
constexpr std::uint32_t kSegmentsMax = 16u << 10;
// Rounds in a commit batch, and rounds whose outcome an agent may not know yet.
constexpr std::uint32_t kRoundsPerCommitMax = 64;
constexpr std::uint32_t kExchangesPerRoundMax = 64;
// Codecs that an agent is asked to try in a round, and how long it may be told to take for them.
constexpr std::uint32_t kTrialsMax = 8;
constexpr double kTrialSecondsMax = 1;
constexpr std::uint32_t kJobsMax = 64;
// Whatever else comes in a list.
constexpr std::uint32_t kListItemsMax = 4096;

// Any text; a reason is a sentence or two, an error a few lines.
constexpr std::uint32_t kTextBytesMax = 1024;
constexpr std::uint32_t kArtifactContentMax = 4u << 20;  // that travels with its job
// Of an agent: it becomes a file name, a label and a line in a log.
constexpr std::uint32_t kAgentIdBytesMax = 64;
constexpr std::uint32_t kPublicKeyBytes = 32;

}  // namespace tributary::wire
