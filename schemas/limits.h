// The limits of everything that is sent, and the reason for each.
//
// Both the sender and the receiver refuse a frame above a limit. A receiver allocates no memory for
// a claimed size above one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tributary::wire {

// The versions of the protocol that this build supports. docs/wire.md states when the number
// increases.
constexpr std::uint32_t kProtocolVersionMin = 2;
constexpr std::uint32_t kProtocolVersionMax = 2;

// An entry of Capabilities.features: the agent decodes results that contain standalone payloads
// (Plan.standalone).
constexpr std::string_view kStandaloneFeature = "standalone_payloads";
// The same: the agent uploads segments of results (Plan.divides_results).
constexpr std::string_view kSegmentsFeature = "result_segments";
// The same: the agent sends as many values in a packet as SumsInNetwork.packet_values says.
constexpr std::string_view kPacketValuesFeature = "packet_values";

// 8-byte numbers are read in place.
constexpr std::size_t kFrameAlignment = 8;
// The root offset, the identifier and an empty table. A shorter frame cannot exist.
constexpr std::size_t kFrameBytesMin = 16;

// The largest frame is a job of 64 Ki layers with names of 40 bytes. kinds.h assigns a cap to each
// kind.
constexpr std::size_t kFrameBytesMax = 8u << 20;
constexpr std::size_t kLongFrameBytesMax = 2u << 20;    // 16 Ki buckets; 8 Ki peers with their keys
constexpr std::size_t kListFrameBytesMax = 256u << 10;  // telemetry, settled rounds
constexpr std::size_t kTextFrameBytesMax = 64u << 10;   // a few short lists
constexpr std::size_t kSmallFrameBytesMax = 16u << 10;  // numbers and texts, or a bitmap
constexpr std::size_t kFixedFrameBytesMax = 1u << 10;   // numbers and a name or two

// The deepest path is Frame, Commit, RoundOutcome, ContributorSet. The rest is for later versions.
constexpr std::uint32_t kFrameDepthMax = 12;
// Verification takes time per table, and a list may refer to one table many times.
constexpr std::uint32_t kFrameTablesMax = 80u << 10;

// The size of a payload part. Small enough that a window of parts fits a device's memory and that a
// lost one costs 3 s at 10 Mbit/s; large enough that its frame is less than a thousandth of it.
constexpr std::uint32_t kPayloadBytesMax = 4u << 20;
// The payload of one stage of one bucket. No codec needs more (core/codec/payload.h).
constexpr std::uint64_t kStageBytesMax = 1ull << 30;
constexpr std::uint32_t kBucketValuesMax = 1u << 26;
// Parts may be much smaller than the cap, down to the size of a packet, but a transfer has a
// bounded number of them.
constexpr std::uint32_t kPartsMax = 1u << 20;
// Bounds of a layer map (core/update/layer_map.h).
constexpr std::uint64_t kModelValuesMax = 1ull << 34;
constexpr std::uint32_t kLayersMax = 64u << 10;
constexpr std::uint32_t kDimensionsMax = 8;
// The largest model with its optimizer state, which has three values per model value.
constexpr std::uint64_t kTransferBytesMax = kModelValuesMax * 4 * 4;

// Bounds the bits of a bitmap: each commit and partial sum carries bitmaps of at most 2 KiB.
constexpr std::uint32_t kMembersMax = 16u << 10;
constexpr std::uint32_t kBucketsMax = 16u << 10;
constexpr std::uint32_t kOutcomesMax = 32u << 10;
// Sums in the network (core/collective/in_network/packet.h): agents that contribute to a sum,
// levels of the table, and slots of an aggregator.
constexpr std::uint32_t kSummedAgentsMax = 64;
constexpr std::uint32_t kSummedLevels = 16;
constexpr std::uint32_t kSumSlotsMax = 64u << 10;
// Values in a packet: a multiple of the unit. 0 stands for the most.
constexpr std::uint32_t kPacketValuesMax = 1024;
constexpr std::uint32_t kPacketValuesUnit = 64;
// The prime of the linear check; combinations are below it.
constexpr std::uint64_t kSumsCheckEnd = (std::uint64_t{1} << 61) - 1;
constexpr std::uint32_t kContributorSetsMax = 1024;
constexpr std::uint32_t kExchangesMax = 256;
constexpr std::uint32_t kStagesMax = 8;
constexpr std::uint32_t kSegmentsMax = 16u << 10;
// Rounds in a commit batch, and rounds whose outcome an agent may not know.
constexpr std::uint32_t kRoundsPerCommitMax = 64;
constexpr std::uint32_t kExchangesPerRoundMax = 64;
// Codecs that an agent tries in one round, and its time limit for them.
constexpr std::uint32_t kTrialsMax = 8;
constexpr double kTrialSecondsMax = 1;
constexpr std::uint32_t kJobsMax = 64;
// All other lists.
constexpr std::uint32_t kListItemsMax = 4096;

// Any text. A reason has one or two sentences, an error a few lines.
constexpr std::uint32_t kTextBytesMax = 1024;
constexpr std::uint32_t kArtifactContentMax = 4u << 20;  // sent with its job
// An agent's id becomes a file name, a label and part of log lines.
constexpr std::uint32_t kAgentIdBytesMax = 64;
constexpr std::uint32_t kPublicKeyBytes = 32;

}  // namespace tributary::wire
