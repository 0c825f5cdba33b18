// JSON as text. Files that build it include nlohmann's own header; this one costs nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tributary {

// On one line. Bytes that are no UTF-8, as file names may have, become U+FFFD; numbers that JSON
// does not have become null.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace tributary
