// Tests of one direction of a simulated link: delay, rate, faults and partitions.
#include "core/sim/link/link.h"
#include "core/sim/scenario/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tributary {
namespace {

Link link_with(const NetworkSettings& settings, std::uint64_t seed = 1) {
  return Link(settings, SeededDraws(seed, DrawUse::link_up, 0));
}

// 1,000 bytes at 1 byte per µs and 2 ms of delay. Delays overlap, transmissions do not.
TEST(Link, DelayAndRateMakeTheArrival) {
  const NetworkSettings settings = {.delay = {2, 2}, .rate_mbit_s = 8};  // 1 byte per microsecond
  Link link = link_with(settings);
  LinkTally tally;
  EXPECT_EQ(link.pass(0, 1000, true, tally).arrives_at_ns[0], 3 * kMs);
  EXPECT_EQ(link.pass(0, 1000, true, tally).arrives_at_ns[0], 4 * kMs) << "it waits for the first";
  EXPECT_EQ(tally.bytes, 2000u);
}

// The delay of each message is drawn between 0 and 10 ms, so many would overtake without the rule.
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

// As datagrams: a message a millisecond later and a delay of up to ten.
TEST(Link, MessagesOfALinkWithoutAnOrderOvertakeOneAnother) {
  const NetworkSettings settings = {.delay = {0, 10}, .ordered = false};
  Link link = link_with(settings);
  LinkTally tally;
  TimeNs latest = 0;
  int early = 0;
  for (int i = 0; i < 200; ++i) {
    const Passage passage = link.pass(i * kMs, 10, true, tally);
    const TimeNs at = passage.arrives_at_ns[0];
    EXPECT_LE(at, (i + 11) * kMs);
    EXPECT_EQ(passage.reordered, at < latest);
    early += passage.reordered ? 1 : 0;
    latest = std::max(latest, at);
  }
  EXPECT_GT(early, 50);
}

// The first message keeps its rate of 8 Mbit/s, the second takes ten times as long.
TEST(Link, AnotherRateHoldsFromTheNextMessageOn) {
  const NetworkSettings settings = {.delay = {0, 0}, .rate_mbit_s = 8};
  Link link = link_with(settings);
  LinkTally tally;
  EXPECT_EQ(link.pass(0, 1000, true, tally).arrives_at_ns[0], kMs);
  link.set_rate(LinkRate(0.8));
  EXPECT_EQ(link.pass(0, 1000, true, tally).arrives_at_ns[0], 11 * kMs) << "behind the first";
}

// 10,000 messages: the tolerance of 150 is five standard deviations. A lost message is neither
// doubled nor damaged.
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

// The end is exclusive, and mend() ends a cut early.
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

// Like TCP: during a cut nothing is lost, and everything behind it arrives later.
TEST(Link, AStreamHoldsUpEarlierAndLaterMessages) {
  const NetworkSettings settings = {.delay = {2, 2}, .rate_mbit_s = 8, .stream = true};
  Link link = link_with(settings);
  LinkTally tally;
  const Passage first = link.pass(0, 10'000, true, tally);
  EXPECT_EQ(first.first_byte_at_ns, 2 * kMs);
  EXPECT_EQ(first.arrives_at_ns[0], 12 * kMs);
  EXPECT_EQ(link.held_up_ns(), 0);
  link.cut(5 * kMs, 25 * kMs);
  EXPECT_EQ(link.held_up_ns(), 20 * kMs) << "by so much the first arrives later";
  const Passage second = link.pass(6 * kMs, 1000, true, tally);
  EXPECT_EQ(second.copies, 1);
  EXPECT_EQ(second.arrives_at_ns[0], 33 * kMs) << "behind the rest of the first";
  EXPECT_EQ(tally.cut_off, 0u);
  EXPECT_EQ(tally.held_up, 1u);
  link.cut(10 * kMs, 15 * kMs);
  EXPECT_EQ(link.held_up_ns(), 20 * kMs) << "it is cut until then anyway";
  link.cut(10 * kMs, 30 * kMs);
  EXPECT_EQ(link.held_up_ns(), 25 * kMs);
}

// A megabyte takes a second on this link; the new connection starts with an empty queue.
TEST(Link, ANewConnectionDoesNotWaitForTheOldQueue) {
  const NetworkSettings settings = {.delay = {2, 2}, .rate_mbit_s = 8, .stream = true};
  Link link = link_with(settings);
  LinkTally tally;
  link.pass(0, 1'000'000, true, tally);
  EXPECT_EQ(tally.queue_ns_max, 1000 * kMs);
  link.restart();
  EXPECT_EQ(link.pass(10 * kMs, 1000, true, tally).arrives_at_ns[0], 13 * kMs);
}

// Drawn from the seed and the agent's number, so they are the same in every run.
TEST(Link, EachAgentHasRatesAndADelayOfItsOwn) {
  const NetworkSettings settings = {.delay = {0, 0},
                                    .agent_delay = {10, 100},
                                    .rate_up_mbit_s = Span{0.1, 1},
                                    .rate_down_mbit_s = Span{5, 5}};
  LinkTally tally;
  TimeNs last = 0;
  for (std::uint32_t agent = 0; agent < 20; ++agent) {
    AgentLinks links = agent_links(settings, 1, agent);
    const Passage up = links.up.pass(0, 12'500, false, tally);  // 0.1 to 1 s
    const TimeNs took = up.arrives_at_ns[0] - up.first_byte_at_ns;
    EXPECT_GE(took, 100 * kMs);
    EXPECT_LE(took, 1000 * kMs);
    EXPECT_GE(up.first_byte_at_ns, 10 * kMs);
    EXPECT_LE(up.first_byte_at_ns, 100 * kMs);
    EXPECT_NE(took, last);
    last = took;
    const Passage down = links.down.pass(0, 12'500, false, tally);
    EXPECT_EQ(down.arrives_at_ns[0] - down.first_byte_at_ns, 20 * kMs);
    EXPECT_EQ(down.first_byte_at_ns, up.first_byte_at_ns);
    AgentLinks again = agent_links(settings, 1, agent);
    EXPECT_EQ(again.up.pass(0, 12'500, false, tally).arrives_at_ns, up.arrives_at_ns);
  }
}

// Another seed differs in most of 200 messages.
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
