// Drawn text whose entropy is known. A small grammar chooses some words at random; other words
// follow from earlier ones. All choices are uniform and no text can be produced in two ways, so the
// entropy is the sum of log2(alternatives) over the choices. No model can need fewer bits per
// character on text that it has not seen.
//
// A model can learn: spelling; the verb form and the plural from the subject; in an answer the
// thing, the person who asked and the person asked; the sum of two digits.
#pragma once

#include <cstdint>
#include <string>

#include "core/data/formats/open.h"

namespace tributary {

struct Story {
  std::string text;
  double bits = 0;  // entropy: the sum over all choices
};

// Returns exactly `characters` characters; the last sentence is cut, and the bits are scaled by the
// kept share. The text is the same on every machine, and a longer text begins with the shorter one.
Story draw_story(std::uint64_t seed, DataPart part, std::uint64_t characters);

}  // namespace tributary
