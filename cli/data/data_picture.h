// Prints examples of a data set as text. Only the one example is read.
#pragma once

#include <cstdint>
#include <string>

#include "core/data/formats/open.h"

namespace tributary {

// Returns pictures up to 64 pixels wide as characters, with two rows of pixels per line; colours
// are averaged, and the contrast is stretched. A text example is returned as it is. Empty for all
// other examples. Fails if the example cannot be read.
Result<std::string> example_text(const DataSet& data, std::uint32_t index,
                                 TextVocabulary vocabulary);

}  // namespace tributary
