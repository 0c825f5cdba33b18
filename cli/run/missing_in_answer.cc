#include "cli/run/missing_in_answer.h"

#include <nlohmann/json.hpp>

#include "cli/text.h"

namespace tributary {

std::string missing_line(const MissingRounds& missing, std::string_view run_file) {
  return missing.any() ? printable(missing.text(run_file)) + "\n" : "";
}

void add_missing(const MissingRounds& missing, nlohmann::ordered_json& data) {
  data["log_missing"] = missing.log_missing;
  data["rounds_beside"] = missing.beside;
}

}  // namespace tributary
