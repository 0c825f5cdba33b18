// The traces in docs/traces are valid.
#include <gtest/gtest.h>

#include <string>

#include "core/net/shaped/trace.h"

namespace tributary {
namespace {

TEST(Traces, AreThoseOfThePaper) {
  const std::string folder = TRIBUTARY_TRACES;
  for (const auto& [file, steps] : {std::pair("/c1.csv", 4u), std::pair("/c2.csv", 5u)}) {
    const Result<LinkTrace> trace = LinkTrace::read(folder + file);
    ASSERT_TRUE(trace.ok()) << trace.status().text();
    EXPECT_EQ(trace->steps().size(), steps);
    EXPECT_EQ(trace->lasts(), std::chrono::seconds(50)) << "a second for each epoch";
    EXPECT_EQ(trace->steps().front().bytes_per_s, 125'000'000u);
    EXPECT_EQ(trace->steps()[2].delay, std::chrono::milliseconds(25));
  }
}

}  // namespace
}  // namespace tributary
