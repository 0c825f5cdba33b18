#include "core/sim/link.h"
#include "core/sim/event_queue.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

Link link_with(const NetworkSettings& settings, std::uint64_t seed = 1) {
  return Link(settings, Draws(seed, DrawUse::link_up, 0));
}

TEST(Link, DelayAndRateMakeTheArrival) {
  const NetworkSettings settings = {.delay = {2, 2}, .rate_mbit_s = 8};  // 1 byte per microsecond
  Link link = link_with(settings);
  LinkTally tally;
  EXPECT_EQ(link.pass(0, 1000, true, tally).arrives_at_ns[0], 3 * kMs);
  EXPECT_EQ(link.pass(0, 1000, true, tally).arrives_at_ns[0], 4 * kMs) << "it waits for the first";
  EXPECT_EQ(tally.bytes, 2000u);
}

TEST(Link, MessagesKeepTheirOrderUnlessReordered) {
  NetworkSettings settings = {.delay = {0, 10}};
  for (const double reordering : {0.0, 0.3}) {
    settings.reordering = reordering;
    Link link = link_with(settings);
    LinkTally tally;
    TimeNs last = 0;
    int early = 0;
    for (int i = 0; i < 200; ++i) {
      const TimeNs at = link.pass(i * kMs, 10, true, tally).arrives_at_ns[0];
      early += at < last ? 1 : 0;
      last = at;
    }
    EXPECT_EQ(early > 0, reordering > 0);
    EXPECT_EQ(tally.reordered > 0, reordering > 0);
  }
}

TEST(Link, LosesAndDoublesAsOftenAsItShall) {
  const NetworkSettings settings = {
      .delay = {1, 1}, .loss = 0.1, .duplication = 0.1, .bit_flips = 0.1};
  Link link = link_with(settings);
  LinkTally tally;
  for (int i = 0; i < 10'000; ++i) link.pass(i * kMs, 10, true, tally);
  EXPECT_NEAR(static_cast<double>(tally.lost), 1000, 150);
  EXPECT_NEAR(static_cast<double>(tally.duplicated), 900, 150);
  EXPECT_NEAR(static_cast<double>(tally.flipped), 900, 150);
  const LinkTally before = tally;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(link.pass(i * kMs, 10, false, tally).copies, 1) << "no faults, none happen";
  }
  EXPECT_EQ(tally.lost + tally.duplicated + tally.flipped,
            before.lost + before.duplicated + before.flipped);
}

TEST(Link, NothingPassesWhileItIsCut) {
  const NetworkSettings settings;
  Link link = link_with(settings);
  LinkTally tally;
  link.cut_until(5 * kMs);
  EXPECT_EQ(link.pass(4 * kMs, 10, true, tally).copies, 0);
  EXPECT_EQ(link.pass(5 * kMs, 10, true, tally).copies, 1);
  link.cut_until(9 * kMs);
  link.mend();
  EXPECT_EQ(link.pass(6 * kMs, 10, true, tally).copies, 1);
  EXPECT_EQ(tally.cut_off, 1u);
}

TEST(Link, TheSameSeedDoesTheSame) {
  const NetworkSettings settings = {.delay = {1, 9}, .loss = 0.2, .duplication = 0.2};
  LinkTally tally;
  Link a = link_with(settings, 5);
  Link b = link_with(settings, 5);
  Link c = link_with(settings, 6);
  int differences = 0;
  for (int i = 0; i < 200; ++i) {
    const Passage from_a = a.pass(i * kMs, 10, true, tally);
    EXPECT_EQ(from_a.arrives_at_ns, b.pass(i * kMs, 10, true, tally).arrives_at_ns);
    differences += from_a.arrives_at_ns != c.pass(i * kMs, 10, true, tally).arrives_at_ns ? 1 : 0;
  }
  EXPECT_GT(differences, 100);
}

}  // namespace
}  // namespace tributary
