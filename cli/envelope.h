// The one object that a command prints with --json.
//
//   {"schema_version":1,"status":"ok","data":{...}}
//   {"schema_version":1,"status":"error",
//    "error":{"code":"not_found","message":"...","expected":"...","got":"...","remedy":"..."}}
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

// `data` is JSON already.
std::string json_answer(std::string_view data);

// `code` is a status code's name, or "internal".
std::string json_error(std::string_view code, const Fault& fault);

}  // namespace tributary
