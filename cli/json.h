// Converts JSON to text. Files that build JSON include nlohmann's header themselves; this header is
// cheap to include.
//
// The functions are pure and do not throw, whatever the texts contain.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tributary {

// Returns the JSON on one line. Invalid UTF-8, which file names may contain, becomes U+FFFD. NaN
// and infinity become null.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace tributary
