// Finds the known name that a user probably meant when mistyping one. The functions are pure. The
// cost is the product of the lengths, for each known name; use them for errors, not in loops.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tributary {

// Returns the known name nearest to `wrong`. The distance counts letters that are inserted,
// deleted, changed, or exchanged with their neighbour; case and '-' against '_' are ignored.
// Returns an empty view if more than a third of the letters differ. Among equally near names the
// first one wins.
std::string_view nearest_name(std::string_view wrong, std::span<const std::string_view> known);

// Returns the remedy of an error: "did you mean 'block'?", or "known: fp16, int8" if no name is
// near.
std::string did_you_mean(std::string_view wrong, std::span<const std::string_view> known);

}  // namespace tributary
