#include "cli/envelope.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/json.h"

namespace tributary {

// The data is inserted as it is, without parsing it again.
std::string json_answer(std::string_view data) {
  return fmt::format(R"({{"schema_version":1,"status":"ok","data":{}}})"
                     "\n",
                     data);
}

std::string json_error(std::string_view code, const Fault& fault) {
  const nlohmann::ordered_json error = {{"code", code},
                                        {"message", fault.what},
                                        {"expected", fault.expected},
                                        {"got", fault.got},
                                        {"remedy", fault.remedy}};
  return fmt::format(R"({{"schema_version":1,"status":"error","error":{}}})"
                     "\n",
                     json_text(error));
}

}  // namespace tributary
