#include "core/base/status.h"

namespace tributary {

std::string_view name(StatusCode code) {
  switch (code) {
    case StatusCode::ok:
      return "ok";
    case StatusCode::invalid_argument:
      return "invalid_argument";
    case StatusCode::corrupt_data:
      return "corrupt_data";
    case StatusCode::not_finite:
      return "not_finite";
    case StatusCode::mismatch:
      return "mismatch";
    case StatusCode::not_found:
      return "not_found";
    case StatusCode::already_exists:
      return "already_exists";
    case StatusCode::unsupported:
      return "unsupported";
    case StatusCode::resource_exhausted:
      return "resource_exhausted";
    case StatusCode::io_error:
      return "io_error";
    case StatusCode::deadline_exceeded:
      return "deadline_exceeded";
    case StatusCode::unavailable:
      return "unavailable";
    case StatusCode::cancelled:
      return "cancelled";
    case StatusCode::permission_denied:
      return "permission_denied";
  }
  return "unknown";
}

// An ok status has no place to add.
Status Status::at(std::string_view place) && {
  if (error_) error_->fault.what = std::string(place) + ": " + error_->fault.what;
  return std::move(*this);
}

std::string Status::text() const {
  if (ok()) return "ok";
  const Fault& f = error_->fault;
  std::string line = std::string(name(error_->code)) + ": " + f.what;
  if (!f.expected.empty()) line += ": expected " + f.expected;
  if (!f.got.empty()) line += (f.expected.empty() ? ": got " : ", got ") + f.got;
  if (!f.remedy.empty()) line += "; " + f.remedy;
  return line;
}

}  // namespace tributary
