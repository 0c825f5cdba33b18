// Examples of a data set as characters.
#pragma once

#include <cstdint>
#include <string>

#include "core/data/formats/open.h"

namespace tributary {

// Pictures up to 64 pixels wide, half as many lines as rows; colours as their mean, from the
// darkest to the brightest. Of text, the text. Empty for all else.
Result<std::string> example_text(const DataSet& data, std::uint32_t index,
                                 TextVocabulary vocabulary);

}  // namespace tributary
