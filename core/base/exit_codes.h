// The exit codes of the programs, in ranges by cause. docs/command_line.md describes them to users.
//
// Codes are public: scripts and tests depend on them, so a code is never given another meaning. A
// function of StatusCode alone.
#pragma once

#include "core/base/status.h"

namespace tributary {

inline constexpr int kExitOk = 0;
inline constexpr int kExitUsage = 2;          // errors in the command line
inline constexpr int kExitBadInput = 10;      // 10 to 19
inline constexpr int kExitSystem = 20;        // 20 to 29: the operating system, files
inline constexpr int kExitLimit = 30;         // 30 to 39: limits and resources
inline constexpr int kExitDisagreement = 40;  // 40 to 49: two sides that do not match
inline constexpr int kExitUnavailable = 50;   // 50 to 59: network, peers, deadlines
inline constexpr int kExitViolation = 60;     // 60 to 69: a check that failed
inline constexpr int kExitInternal = 70;      // an internal error of the program
inline constexpr int kExitSignal = 128;       // plus the signal's number

// The exit code of a program that ends with this status.
constexpr int exit_code(StatusCode code) {
  switch (code) {
    case StatusCode::ok:
      return kExitOk;
    case StatusCode::invalid_argument:
      return kExitBadInput;
    case StatusCode::corrupt_data:
      return kExitBadInput + 1;
    case StatusCode::not_finite:
      return kExitBadInput + 2;
    case StatusCode::io_error:
      return kExitSystem;
    case StatusCode::not_found:
      return kExitSystem + 1;
    case StatusCode::already_exists:
      return kExitSystem + 2;
    case StatusCode::resource_exhausted:
      return kExitLimit;
    case StatusCode::mismatch:
      return kExitDisagreement;
    case StatusCode::unsupported:
      return kExitDisagreement + 1;
    case StatusCode::permission_denied:
      return kExitDisagreement + 2;
    case StatusCode::unavailable:
      return kExitUnavailable;
    case StatusCode::deadline_exceeded:
      return kExitUnavailable + 1;
    case StatusCode::cancelled:
      return kExitSignal + 2;
  }
  return kExitInternal;
}

}  // namespace tributary
