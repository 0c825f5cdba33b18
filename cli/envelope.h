// The JSON object that every command prints with --json.
//
//   {"schema_version":1,"status":"ok","data":{...}}
//   {"schema_version":1,"status":"error",
//    "error":{"code":"not_found","message":"...","expected":"...","got":"...","remedy":"..."}}
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

// Wraps a successful answer. `data` must be valid JSON.
std::string json_answer(std::string_view data);

// Wraps an error. `code` is the name of a status code, or "internal".
std::string json_error(std::string_view code, const Fault& fault);

}  // namespace tributary
