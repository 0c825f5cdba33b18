// Finds the name that somebody who mistyped one probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tributary {

// The known name nearest to `wrong`, counting letters inserted, dropped, changed, or swapped with
// their neighbour; case and '-' against '_' count nothing. Empty when none is near enough: a third
// of the letters may differ. Of equally near names the first wins.
std::string_view nearest_name(std::string_view wrong, std::span<const std::string_view> known);

// The remedy of an error: "did you mean 'block'?", or "known: fp16, int8" when nothing is near.
std::string did_you_mean(std::string_view wrong, std::span<const std::string_view> known);

}  // namespace tributary
