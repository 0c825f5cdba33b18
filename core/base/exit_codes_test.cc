// Tests of the exit codes, which scripts and units rely on.
#include "core/base/exit_codes.h"

#include <gtest/gtest.h>

#include <set>

namespace tributary {
namespace {

// Scripts depend on the ranges, and every code must be distinct.
TEST(ExitCodes, LieInTheirRanges) {
  const struct {
    StatusCode code;
    int first;
    int last;
  } cases[] = {{StatusCode::ok, 0, 0},
               {StatusCode::invalid_argument, 10, 19},
               {StatusCode::corrupt_data, 10, 19},
               {StatusCode::not_finite, 10, 19},
               {StatusCode::io_error, 20, 29},
               {StatusCode::not_found, 20, 29},
               {StatusCode::already_exists, 20, 29},
               {StatusCode::resource_exhausted, 30, 39},
               {StatusCode::mismatch, 40, 49},
               {StatusCode::unsupported, 40, 49},
               {StatusCode::permission_denied, 40, 49},
               {StatusCode::unavailable, 50, 59},
               {StatusCode::deadline_exceeded, 50, 59},
               {StatusCode::cancelled, 130, 130}};
  std::set<int> seen;
  for (const auto& each : cases) {
    EXPECT_GE(exit_code(each.code), each.first) << name(each.code);
    EXPECT_LE(exit_code(each.code), each.last) << name(each.code);
    EXPECT_TRUE(seen.insert(exit_code(each.code)).second) << name(each.code);
  }
}

}  // namespace
}  // namespace tributary
