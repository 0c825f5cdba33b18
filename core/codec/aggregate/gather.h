// Aggregators of the two operations that combine nothing: a broadcast lets one root's payload
// through, a gather lets all of them travel side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/codec/codec.h"
#include "core/codec/payload.h"

namespace tributary {

// What can be wrong with a body of the stage, so that a root's nonsense stops at the aggregator.
using BodyCheck = std::function<Status(const OpenPayload&)>;

// The combined payload is the only one that was added; a second is refused.
std::unique_ptr<Aggregator> make_broadcast_aggregator(const Codec& codec, std::size_t stage,
                                                      std::uint32_t values, BodyCheck check);

// The body of a gather stage is a list of what each contributor said, in ascending order of agents:
//
//   u32  index of the agent among the members
//   u32  bytes that follow
//        what this agent said
//
// One agent's payload is a list of one, so that partial gathers combine like single payloads.
// Whoever knows which agent a payload came from compares: here an agent is who its payload says it
// is.
struct GatherEntry {
  std::uint32_t agent = 0;
  ByteSpan said;
};

constexpr std::size_t kGatherEntryHeaderBytes = 8;

// Appends an entry to a body of `gather_bytes(said.size())` free bytes and returns what is left.
MutableByteSpan write_gather_entry(const GatherEntry& entry, MutableByteSpan body);
constexpr std::size_t gather_bytes(std::size_t said_bytes) {
  return kGatherEntryHeaderBytes + said_bytes;
}

// As many entries as the payload has contributors, of distinct agents below `agents`, none of which
// said more than `said_bytes_max`.
Result<std::vector<GatherEntry>> read_gather_entries(const OpenPayload& payload,
                                                     std::uint32_t agents,
                                                     std::size_t said_bytes_max);

// Holds what every contributor said: at most the planned agents times `said_bytes_max`, so it is
// for small things. Large payloads of `gather` codecs are decoded on arrival instead.
std::unique_ptr<Aggregator> make_gather_aggregator(const Codec& codec, std::size_t stage,
                                                   std::uint32_t values,
                                                   std::size_t said_bytes_max);

}  // namespace tributary
