// Drawn text: sentences of a small grammar in which some words are chosen and others follow from
// what was said before. All choices are uniform and no text can come about in two ways, so that the
// entropy is known: the sum of log2(alternatives) over the choices. No model can be expected to
// need fewer bits per character for text that it has not seen.
//
// What follows and can be learned: spelling; the verb's form and the plural by the subject; in an
// answer the thing, who asked and who was asked; the sum of two digits.
#pragma once

#include <cstdint>
#include <string>

#include "core/data/formats/open.h"

namespace tributary {

struct Story {
  std::string text;
  double bits = 0;  // of all choices
};

// `characters` of it, cut where they are full. The same on every machine.
Story draw_story(std::uint64_t seed, DataPart part, std::uint64_t characters);

}  // namespace tributary
