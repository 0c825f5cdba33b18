// Tests of errors as values: their text, their copies, and the macros that return them.
#include "core/base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace tributary {
namespace {

Status cut_header() {
  return Status(StatusCode::corrupt_data, {.what = "payload header",
                                           .expected = "24 bytes or more",
                                           .got = "7",
                                           .remedy = "send it again"});
}

TEST(Status, IsOkByDefault) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status().code(), StatusCode::ok);
  EXPECT_EQ(Status().text(), "ok");
}

TEST(Status, TextHasAllFourParts) {
  EXPECT_EQ(cut_header().text(),
            "corrupt_data: payload header: expected 24 bytes or more, got 7; send it again");
}

TEST(Status, TextLeavesOutEmptyFields) {
  const auto text = [](const Fault& fault) { return Status(StatusCode::io_error, fault).text(); };
  EXPECT_EQ(text({.what = "disk"}), "io_error: disk");
  EXPECT_EQ(text({.what = "disk", .got = "EIO"}), "io_error: disk: got EIO");
  EXPECT_EQ(text({.what = "disk", .expected = "room"}), "io_error: disk: expected room");
  EXPECT_EQ(text({.what = "disk", .remedy = "check it"}), "io_error: disk; check it");
}

TEST(Status, AtPrependsThePlace) {
  const Status status = cut_header().at("bucket 3").at("round 9");
  EXPECT_EQ(status.fault().what, "round 9: bucket 3: payload header");
  EXPECT_TRUE(Status().at("anywhere").ok());
}

// A copy owns its texts, so a changed place does not appear in the original.
TEST(Status, CopiesAreIndependent) {
  const Status first = cut_header();
  Status second = first;
  second = std::move(second).at("copy");
  EXPECT_EQ(first.fault().what, "payload header");
  EXPECT_EQ(second.fault().what, "copy: payload header");
  second = Status();
  EXPECT_TRUE(second.ok());
  EXPECT_EQ(first.code(), StatusCode::corrupt_data);
}

// Also fails if kLastStatusCode is not updated with a new code.
TEST(Status, EveryCodeHasAnOwnName) {
  std::set<std::string_view> names;
  const auto last = static_cast<int>(kLastStatusCode);
  for (int code = 0; code <= last; ++code) names.insert(name(static_cast<StatusCode>(code)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(last) + 1);
  EXPECT_FALSE(names.contains("unknown"));
}

Result<int> half(int x) {
  if (x % 2 == 0) return x / 2;
  return Status(StatusCode::invalid_argument, {.what = "odd"});
}

Result<int> quarter(int x) {
  TRIBUTARY_ASSIGN(const int once, half(x));
  TRIBUTARY_ASSIGN(const int twice, half(once));
  return twice;
}

Status can_be_quartered(int x) {
  TRIBUTARY_TRY(quarter(x).status());
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(*half(8), 4);
  EXPECT_TRUE(half(8).status().ok());
  EXPECT_FALSE(half(7).ok());
  EXPECT_EQ(half(7).status().fault().what, "odd");
}

TEST(Result, MacrosLeaveWithTheFirstError) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).status().code(), StatusCode::invalid_argument);
  EXPECT_TRUE(can_be_quartered(4).ok());
  EXPECT_FALSE(can_be_quartered(2).ok());
}

TEST(Result, CarriesMoveOnlyValues) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

}  // namespace
}  // namespace tributary
