#include "cli/json.h"

#include <nlohmann/json.hpp>

namespace tributary {

// Texts of agents may contain invalid UTF-8; such bytes become replacement characters instead of an
// exception. NaN and infinity become null.
std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tributary
