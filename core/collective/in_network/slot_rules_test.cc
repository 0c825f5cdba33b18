#include "core/collective/in_network/slot_rules.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tributary::in_network {
namespace {

SlotJob a_job(std::uint32_t epoch = 1) {
  SlotJob job = {.handle = 7, .epoch = epoch, .agents = 2, .granularity = 30, .slots = 4};
  job.packet_values = 128;
  for (std::size_t i = 0; i < 16; ++i) job.places[i] = static_cast<std::uint16_t>(2 * i);
  job.table = 99;
  return job;
}

class SlotRulesTest : public testing::Test {
 protected:
  SlotRulesTest() : rules_(*SlotRules::make(16)) { EXPECT_TRUE(rules_.install(a_job()).ok()); }

  static PacketHeader header(std::uint8_t agent, std::uint32_t sequence, std::uint32_t epoch = 1) {
    return {.agent = agent,
            .agents = 2,
            .job = 7,
            .epoch = epoch,
            .sequence = sequence,
            .count = 64,
            .table = 99};
  }
  SlotReply send(const PacketHeader& h, std::uint8_t levels = 0x21, PacketSource source = 0) {
    Bytes bytes(kHeaderBytes + body_bytes(h.type, h.count, h.wide), levels);
    write_header(h, bytes.data());
    return rules_.handle(bytes, source != 0 ? source : h.agent + 1u, reply_);
  }
  Packet answer(const SlotReply& reply) const {
    Packet packet;
    EXPECT_EQ(parse_packet(ByteSpan(reply_).first(reply.bytes), packet), DropReason::none);
    return packet;
  }
  std::uint64_t drops(DropReason reason) const {
    return rules_.counters().drops[static_cast<std::size_t>(reason)];
  }
  void expect_drop(const PacketHeader& h, DropReason reason, PacketSource source = 0) {
    const std::uint64_t before = drops(reason);
    const SlotReply reply = send(h, 0x21, source);
    EXPECT_EQ(name(reply.reason), name(reason));
    EXPECT_EQ(drops(reason), before + 1);
    EXPECT_EQ(reply.to, is_refused(reason) ? ReplyTo::sender : ReplyTo::none);
    if (!is_refused(reason)) return;
    EXPECT_EQ(answer(reply).header.type, PacketType::refusal);
    EXPECT_EQ(answer(reply).header.reason, reason);
    EXPECT_EQ(answer(reply).header.sequence, h.sequence);
  }

  SlotRules rules_;
  Bytes reply_ = Bytes(kPacketBytesMax);
};

TEST_F(SlotRulesTest, TheLastContributionReleasesTheSums) {
  EXPECT_EQ(send(header(0, 0)).to, ReplyTo::none);
  const SlotReply reply = send(header(1, 0), 0x43);
  EXPECT_EQ(reply.to, ReplyTo::all_agents);
  const Packet packet = answer(reply);
  EXPECT_EQ(packet.contributors, 3u);
  ASSERT_EQ(packet.body.size(), 64u);
  for (std::size_t i = 0; i < 64; i += 2) {
    EXPECT_EQ(packet.body[i], 2 * (1 + 3));  // low nibbles first
    EXPECT_EQ(packet.body[i + 1], 2 * (2 + 4));
  }
}

TEST_F(SlotRulesTest, RepeatsAddNothingAndGetTheResultAlone) {
  send(header(0, 0));
  EXPECT_EQ(send(header(0, 0)).to, ReplyTo::none);
  send(header(1, 0));
  const SlotReply again = send(header(0, 0), 0x77);
  EXPECT_EQ(again.to, ReplyTo::sender);
  EXPECT_EQ(answer(again).body[0], 4);
  // Agent 0 moves on, and agent 1 has missed the result.
  send(header(0, 1), 0x55);
  const SlotReply late = send(header(1, 0));
  EXPECT_EQ(late.to, ReplyTo::sender);
  EXPECT_EQ(answer(late).header.sequence, 0u);
  EXPECT_EQ(answer(late).body[0], 4);
  EXPECT_EQ(rules_.counters().repeats, 3u);
  EXPECT_EQ(rules_.counters().contributions, 3u);
}

TEST_F(SlotRulesTest, EveryBadPacketIsCountedByItsReason) {
  Bytes bytes(kHeaderBytes + 32);
  write_header(header(0, 0), bytes.data());
  EXPECT_EQ(rules_.handle(ByteSpan(bytes).first(40), 1, reply_).reason, DropReason::too_short);
  bytes.push_back(0);
  EXPECT_EQ(rules_.handle(bytes, 1, reply_).reason, DropReason::too_long);
  bytes[0] = 0;
  EXPECT_EQ(rules_.handle(bytes, 1, reply_).reason, DropReason::foreign);
  PacketHeader h = header(0, 0);
  h.job = 8;
  expect_drop(h, DropReason::unknown_job);
  expect_drop(header(0, 0, 0), DropReason::old_epoch);
  expect_drop(header(0, 0, 2), DropReason::future_epoch);
  expect_drop(header(0, 1), DropReason::unknown_phase);
  h = header(0, 0);
  h.agents = 3;
  expect_drop(h, DropReason::wrong_agent);
  h = header(0, 0);
  h.table = 98;
  expect_drop(h, DropReason::wrong_table);
  h = header(0, 0);
  h.wide = true;
  expect_drop(h, DropReason::sum_too_wide);
  h = header(0, 0);
  h.count = 192;
  expect_drop(h, DropReason::wrong_count);
  h = header(0, 0);
  h.slot = 4;
  expect_drop(h, DropReason::wrong_slot);
  send(header(0, 0));
  h = header(1, 0);
  h.count = 128;
  expect_drop(h, DropReason::wrong_count);
  expect_drop(header(0, 1), DropReason::early);
  send(header(1, 0));
  for (std::uint32_t k = 1; k < 3; ++k) {
    send(header(0, k));
    send(header(1, k));
  }
  expect_drop(header(0, 0), DropReason::replayed);
  EXPECT_EQ(rules_.counters().dropped(), 15u);
}

TEST_F(SlotRulesTest, AnotherSourceIsForeign) {
  send(header(0, 0), 0x21, 1);
  expect_drop(header(0, 0), DropReason::foreign, 5);
  SlotJob job = a_job(2);
  job.sources = {11, 12};
  ASSERT_TRUE(rules_.install(job).ok());
  expect_drop(header(0, 0, 2), DropReason::foreign, 1);
  EXPECT_EQ(send(header(0, 0, 2), 0x21, 11).reason, DropReason::none);
}

TEST_F(SlotRulesTest, APacketThatIsDroppedTeachesNoSource) {
  expect_drop(header(0, 1), DropReason::unknown_phase, 5);
  EXPECT_EQ(send(header(0, 0), 0x21, 1).reason, DropReason::none);
  EXPECT_EQ(rules_.sources(7)[0], 1u);
}

TEST_F(SlotRulesTest, ANewEpochForgetsTheOldOne) {
  send(header(0, 0));
  send(header(1, 0));
  ASSERT_TRUE(rules_.install(a_job(2)).ok());
  expect_drop(header(0, 0), DropReason::old_epoch);
  send(header(0, 0, 2), 0x11);
  const SlotReply reply = send(header(1, 0, 2), 0x11);
  EXPECT_EQ(reply.to, ReplyTo::all_agents);
  EXPECT_EQ(answer(reply).body[0], 4);
  EXPECT_FALSE(rules_.install(a_job(2)).ok());
  EXPECT_FALSE(rules_.install(a_job(1)).ok());
}

TEST_F(SlotRulesTest, JobsShareSlotsByQuota) {
  SlotJob other = a_job();
  other.handle = 8;
  other.slots = 12;
  ASSERT_TRUE(rules_.install(other).ok());
  EXPECT_EQ(rules_.slots_free(), 0u);
  SlotJob third = a_job();
  third.handle = 9;
  third.slots = 1;
  EXPECT_EQ(rules_.install(third).code(), StatusCode::resource_exhausted);
  ASSERT_TRUE(rules_.remove(7).ok());
  ASSERT_TRUE(rules_.install(third).ok());
  expect_drop(header(0, 0), DropReason::unknown_job);
  EXPECT_EQ(rules_.remove(7).code(), StatusCode::not_found);
  EXPECT_EQ(rules_.slots_free(), 3u);
}

TEST_F(SlotRulesTest, SlotsOfAnotherJobAreEmpty) {
  send(header(0, 0));
  ASSERT_TRUE(rules_.remove(7).ok());
  SlotJob next = a_job();
  next.handle = 8;
  ASSERT_TRUE(rules_.install(next).ok());
  PacketHeader h = header(1, 0);
  h.job = 8;
  EXPECT_EQ(send(h).to, ReplyTo::none);
}

TEST_F(SlotRulesTest, SumsBeyondEightBitsHaveSixteen) {
  SlotJob job = a_job();
  job.handle = 8;
  job.agents = 9;
  ASSERT_TRUE(rules_.install(job).ok());
  PacketHeader h = header(0, 0);
  h.job = 8;
  h.agents = 9;
  h.wide = true;
  SlotReply reply;
  for (h.agent = 0; h.agent < 9; ++h.agent) reply = send(h, 0xff);
  const Packet packet = answer(reply);
  ASSERT_EQ(packet.body.size(), 128u);
  std::uint16_t sum = 0;
  std::memcpy(&sum, packet.body.data(), sizeof(sum));
  EXPECT_EQ(sum, 9 * 30);
}

TEST(SlotRulesInstall, RefusesJobsThatMakeNoSense) {
  SlotRules rules = *SlotRules::make(4);
  const auto code = [&](auto change) {
    SlotJob job = a_job();
    change(job);
    return rules.install(job).code();
  };
  const StatusCode bad = StatusCode::invalid_argument;
  EXPECT_EQ(code([](SlotJob& j) { j.agents = 0; }), bad);
  EXPECT_EQ(code([](SlotJob& j) { j.agents = 65; }), bad);
  EXPECT_EQ(code([](SlotJob& j) { j.granularity = 40'000; }), bad);
  EXPECT_EQ(code([](SlotJob& j) { j.places[3] = 31; }), bad);
  EXPECT_EQ(code([](SlotJob& j) { j.slots = 5; }), bad);
  EXPECT_EQ(code([](SlotJob& j) { j.sources = {1}; }), bad);
  EXPECT_EQ(code([](SlotJob& j) { j.sources = {1, 0}; }), bad);
  EXPECT_EQ(code([](SlotJob&) {}), StatusCode::ok);
  EXPECT_FALSE(SlotRules::make(0).ok());
}

}  // namespace
}  // namespace tributary::in_network
