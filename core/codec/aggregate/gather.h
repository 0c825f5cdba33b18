// Aggregators for the two operations that keep payloads unchanged: broadcast and gather. A
// broadcast passes on the payload of one root. A gather collects the payloads of all agents in one
// list.
//
// The contract is that of Aggregator (core/codec/codec.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/codec/codec.h"
#include "core/codec/payload.h"

namespace tributary {

// Checks the body of a stage, so that a malformed payload of the root is refused by the aggregator
// and does not reach the agents.
using BodyCheck = std::function<Status(const OpenPayload&)>;

// Makes an aggregator whose combined payload is the only payload that was added. A second one is
// refused with resource_exhausted; a refused body gives the status of `check`.
std::unique_ptr<Aggregator> make_broadcast_aggregator(const Codec& codec, std::size_t stage,
                                                      std::uint32_t values, BodyCheck check);

// An entry of a gather stage's body. The body is a list of one entry per contributor, in ascending
// order of agents:
//
//   u32  index of the agent among the members
//   u32  number of bytes that follow
//        the agent's bytes
//
// One agent's payload is a list with one entry, so partial gathers combine in the same way as
// single payloads. The agent index is not authenticated: a caller that knows the sender must
// compare it.
struct GatherEntry {
  std::uint32_t agent = 0;
  // Points into the payload.
  ByteSpan payload;
};

constexpr std::size_t kGatherEntryHeaderBytes = 8;

// Writes an entry to the start of `body`, which needs at least gather_bytes(payload.size()) bytes,
// and returns the remaining part.
MutableByteSpan write_gather_entry(const GatherEntry& entry, MutableByteSpan body);
constexpr std::size_t gather_bytes(std::size_t payload_bytes) {
  return kGatherEntryHeaderBytes + payload_bytes;
}

// Reads the entries of an untrusted payload. Their number must equal the payload's contributors,
// their agents must be ascending and below `agents`, and no entry may exceed `payload_bytes_max`;
// otherwise corrupt_data. The entries point into the payload.
Result<std::vector<GatherEntry>> read_gather_entries(const OpenPayload& payload,
                                                     std::uint32_t agents,
                                                     std::size_t payload_bytes_max);

// Makes an aggregator that keeps every contributor's bytes: up to `payload_bytes_max` for each
// planned agent, so it suits small entries only. Large payloads of `gather` codecs are decoded on
// arrival instead. A second entry of an agent is refused with already_exists.
std::unique_ptr<Aggregator> make_gather_aggregator(const Codec& codec, std::size_t stage,
                                                   std::uint32_t values,
                                                   std::size_t payload_bytes_max);

}  // namespace tributary
