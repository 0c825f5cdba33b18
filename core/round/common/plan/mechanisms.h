// Counts the facts of a round, and packs them for the journal (schemas/mechanisms.fbs). All
// functions are pure.
//
// Facts are what a round did, not what it was asked to do: codecs that encoded, stages that closed
// early, agents left out.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/round/common/machine/records.h"
#include "schemas/frame_generated.h"

namespace tributary {

using Tallies = std::vector<std::unique_ptr<wire::TallyT>>;

// Bounds every list of tallies. Kinds beyond it are not counted.
constexpr std::size_t kTalliesMax = 64;

// Adds `count` to the tally of this kind.
void add_to_tally(Tallies& tallies, std::string_view of, std::uint64_t count = 1);

SharedBytes pack_mechanisms(const wire::MechanismsT& mechanisms);
SharedBytes pack_mechanisms(const wire::RoundMechanismsT& mechanisms);

// Returns corrupt_data if the bytes are no such table.
Result<wire::RoundMechanismsT> unpack_round_mechanisms(ByteSpan packed);

}  // namespace tributary
