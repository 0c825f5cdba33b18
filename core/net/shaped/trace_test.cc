#include "core/net/shaped/trace.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tributary {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::string_view kTwoSteps =
    "seconds, mbit_per_s, delay_ms, loss_percent\n"
    "# a line that is free\n"
    "30, 8, 10, 0\r\n"
    "\n"
    "1.5,0.8,80,0.5 # and one that is not\n";

TEST(LinkTrace, StepsAreReadWithUnitsHeaderAndComments) {
  const Result<LinkTrace> trace = LinkTrace::parse(kTwoSteps);
  ASSERT_TRUE(trace.ok()) << trace.status().text();
  ASSERT_EQ(trace->steps().size(), 2u);
  EXPECT_EQ(
      trace->steps()[0],
      (TraceStep{
          .lasts = seconds(30), .bytes_per_s = 1'000'000, .delay = milliseconds(10), .loss = 0}));
  EXPECT_EQ(trace->steps()[1], (TraceStep{.lasts = milliseconds(1500),
                                          .bytes_per_s = 100'000,
                                          .delay = milliseconds(80),
                                          .loss = 0.005}));
}

TEST(LinkTrace, AFileIsReadAndOneThatIsNotThereNamed) {
  const std::string path = testing::TempDir() + "tributary_trace_test.csv";
  std::ofstream(path, std::ios::binary) << kTwoSteps;
  const Result<LinkTrace> trace = LinkTrace::read(path);
  ASSERT_TRUE(trace.ok()) << trace.status().text();
  EXPECT_EQ(trace->steps(), LinkTrace::parse(kTwoSteps)->steps());
  std::filesystem::remove(path);
  EXPECT_THAT(LinkTrace::read(path).status().text(), HasSubstr(path));
}

TEST(LinkTrace, AStepHoldsUntilTheNextAndAfterTheLastItBeginsAgain) {
  const LinkTrace trace = LinkTrace::parse(kTwoSteps).value();
  const auto rate_at = [&](milliseconds time) { return trace.at(time).bytes_per_s; };
  EXPECT_EQ(rate_at(milliseconds(0)), 1'000'000u);
  EXPECT_EQ(rate_at(milliseconds(29'999)), 1'000'000u);
  EXPECT_EQ(rate_at(milliseconds(30'000)), 100'000u);
  EXPECT_EQ(rate_at(milliseconds(31'499)), 100'000u);
  EXPECT_EQ(rate_at(milliseconds(31'500)), 1'000'000u);
  EXPECT_EQ(rate_at(milliseconds(31'500 * 1000 + 30'001)), 100'000u);
}

TEST(LinkTrace, AnErrorNamesTheLineAndWhatWasExpected) {
  const auto text_of = [](std::string_view text) {
    const Result<LinkTrace> trace = LinkTrace::parse(text);
    return trace.ok() ? std::string() : trace.status().text();
  };
  EXPECT_THAT(text_of("1,1,1,0\n1,x,1,0\n"), HasSubstr("line 2"));
  EXPECT_THAT(text_of("1,x,1,0"), HasSubstr("mbit_per_s from 0"));
  EXPECT_THAT(text_of("1,1,1"), HasSubstr("4 numbers"));
  EXPECT_THAT(text_of("1,1,1,0,0"), HasSubstr("loss_percent"));
  EXPECT_THAT(text_of("0,1,1,0"), HasSubstr("seconds"));
  EXPECT_THAT(text_of("1,1,-1,0"), HasSubstr("delay_ms"));
  EXPECT_THAT(text_of("1,1,1,101"), HasSubstr("loss_percent"));
  EXPECT_THAT(text_of("1,1e-9,1,0"), HasSubstr("one byte"));
  EXPECT_THAT(text_of("nan,1,1,0"), HasSubstr("seconds"));
  EXPECT_THAT(text_of(""), HasSubstr("at least one step"));
  EXPECT_THAT(text_of("seconds, mbit_per_s, delay_ms, loss_percent\n"), HasSubstr("at least one"));
}

}  // namespace
}  // namespace tributary
