// The recorded packets of switch_p4/vectors through the XDP program in the kernel: the recorded
// replies, byte for byte, and the recorded reasons in its counters; drawn packets get the replies
// of the rules. No network is used.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "core/base/random.h"
#include "switch_p4/vectors/vector_file_testing.h"
#include "switch_p4/xdp/frame_testing.h"
#include "switch_p4/xdp/gateway.h"

namespace tributary::switch_xdp {
namespace {

using in_network::ReplyTo;
using in_network::VectorRecord;

constexpr UdpAddress kRecordedListen = {.ip = 0x0a4d0001, .port = 4650};
constexpr UdpAddress kRecordedGroup = {.ip = 0xefff0107, .port = 4651};

UdpAddress source_of(std::uint16_t number) {
  return {.ip = 0x0a4d0100u + number, .port = static_cast<std::uint16_t>(5000 + number)};
}

struct Answer {
  ReplyTo to = ReplyTo::none;
  bool handed_over = false;
  Bytes reply = {};
};

// A gateway without a device.
class RecordedGateway {
 public:
  explicit RecordedGateway(UdpAddress group) : group_(group) { restart(); }

  void restart() {
    auto gateway = Gateway::load(
        {.slots = in_network::kRecordedSlots, .listen = kRecordedListen, .group = group_});
    ASSERT_TRUE(gateway.ok()) << gateway.status().text();
    gateway_ = std::move(*gateway);
  }
  Gateway& gateway() { return *gateway_; }

  Answer send(std::uint16_t source, const Bytes& packet) {
    Bytes frame = frame_of({source_of(source), kRecordedListen}, packet);
    frame[kFrameBytes - 1] = 0x12;  // a checksum, which is not that of the reply
    const TestRun run = test_run(gateway_->program_file(), frame);
    EXPECT_EQ(run.error, 0);
    Answer answer;
    if (run.action == XDP_TX) answer = reflected(source, run.frame);
    EXPECT_TRUE(run.action == XDP_TX || run.action == XDP_DROP) << run.action;
    const Status status = gateway_->take_replies([&](const XdpReply& reply) {
      EXPECT_EQ(answer.to, ReplyTo::none);
      EXPECT_TRUE(reply.to == 0 || reply.to == source_of(source).number());
      answer = {.to = reply.to != 0 ? ReplyTo::sender : ReplyTo::all_agents,
                .handed_over = true,
                .reply = Bytes(reply.packet, reply.packet + reply.bytes)};
    });
    EXPECT_TRUE(status.ok());
    return answer;
  }

 private:
  // The whole frame is as expected: addresses, sizes and the checksum.
  Answer reflected(std::uint16_t source, const Bytes& frame) const {
    EXPECT_GE(frame.size(), kFrameBytes);
    const Bytes reply(frame.begin() + kFrameBytes, frame.end());
    iphdr ip = {};
    std::memcpy(&ip, frame.data() + sizeof(ethhdr), sizeof(ip));
    const bool to_all = group_.ip != 0 && ntohl(ip.daddr) == group_.ip;
    Bytes expected = frame_of({kRecordedListen, to_all ? group_ : source_of(source)}, reply);
    ethhdr eth = {
        .h_dest = {2, 0, 0, 0, 0, 2}, .h_source = {2, 0, 0, 0, 0, 1}, .h_proto = htons(ETH_P_IP)};
    const std::array<std::uint8_t, 6> group_mac = {0x01, 0x00, 0x5e, 0x7f, 0x01, 0x07};
    if (to_all) std::memcpy(eth.h_dest, group_mac.data(), group_mac.size());
    std::memcpy(expected.data(), &eth, sizeof(eth));
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < sizeof(ip); i += 2) {
      sum += static_cast<std::uint32_t>(frame[sizeof(eth) + i] << 8 | frame[sizeof(eth) + i + 1]);
    }
    EXPECT_EQ((sum & 0xffff) + (sum >> 16), 0xffffu) << "checksum";
    ip.check = 0;
    ip.frag_off = 0;
    EXPECT_EQ(ip.ttl, to_all ? 1 : 64);
    ip.ttl = 64;
    Bytes normal = frame;
    std::memcpy(normal.data() + sizeof(eth), &ip, sizeof(ip));
    EXPECT_EQ(normal, expected);
    return {.to = to_all ? ReplyTo::all_agents : ReplyTo::sender, .reply = reply};
  }

  const UdpAddress group_;
  std::unique_ptr<Gateway> gateway_;
};

class XdpProgram : public testing::Test {
 protected:
  void SetUp() override {
    const std::string refusal = xdp_refusal();
    if (refusal.empty()) return;
    const char* const required = std::getenv("REQUIRE_XDP");
    if (required != nullptr && std::string_view(required) == "1") FAIL() << refusal;
    GTEST_SKIP() << refusal;
  }
};

// The parameter: results go to a group.
class XdpVectors : public XdpProgram, public testing::WithParamInterface<bool> {};

TEST_P(XdpVectors, TheProgramGivesTheRecordedReplies) {
  const bool by_group = GetParam();
  RecordedGateway recorded(by_group ? kRecordedGroup : UdpAddress());
  ASSERT_FALSE(HasFailure());
  std::size_t number = 0;
  std::size_t handed_over = 0;
  std::array<std::uint64_t, in_network::kDropReasons> drops = {};
  for (const VectorRecord& r : in_network::VectorFile::read(TRIBUTARY_VECTORS)) {
    SCOPED_TRACE(number++);
    if (r.kind == VectorRecord::Kind::install) {
      ASSERT_TRUE(recorded.gateway().install(r.job).ok());
    } else if (r.kind == VectorRecord::Kind::restart) {
      recorded.restart();
      drops = {};
    } else {
      const Answer answer = recorded.send(r.source, r.packet);
      ASSERT_EQ(answer.to, r.to);
      ASSERT_EQ(answer.reply, r.reply);
      handed_over += answer.handed_over ? 1 : 0;
      if (r.reason != in_network::DropReason::none) ++drops[static_cast<std::size_t>(r.reason)];
      ASSERT_EQ(recorded.gateway().counters().rules.drops, drops) << name(r.reason);
    }
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(number, 100u);
  EXPECT_EQ(handed_over > 0, !by_group);
  const GatewayCounters counters = recorded.gateway().counters();
  EXPECT_GT(counters.rules.contributions, 0u);
  EXPECT_EQ(counters.unsent, 0u);
}

// Contributions of two jobs, mostly good ones in any order, some with a wrong field, length or
// source.
// `phases`: the current one of each job and slot.
using CurrentPhases = std::array<std::array<std::uint32_t, 2>, 2>;
Bytes drawn_packet(std::uint32_t number, const CurrentPhases& phases) {
  const auto draw = [&](std::uint32_t field, std::uint64_t below) {
    return random_bits({26, field}, number) % below;
  };
  const bool wide = draw(0, 2) == 1;
  const std::uint64_t slot = draw(4, 2);
  const std::uint64_t smaller = draw(1, 20) == 0 ? 1 : 0;
  const auto count = static_cast<std::uint16_t>((wide ? 256 : 512) << slot >> smaller);
  const std::array<std::uint32_t, 6> steps = {0, 0, 0, 0, 1, UINT32_MAX};
  in_network::PacketHeader header = {
      .wide = wide,
      .agent = static_cast<std::uint8_t>(draw(2, 3)),
      .agents = 3,
      .job = static_cast<std::uint16_t>(wide ? 8 : 7),
      .epoch = 1 + number / 2000,
      .sequence = phases[wide ? 1 : 0][slot] + steps[draw(3, steps.size())],
      .slot = static_cast<std::uint16_t>(slot),
      .count = count,
      .table = 5};
  Bytes packet(in_network::kHeaderBytes + count / 2);
  for (std::uint32_t i = 0; i < packet.size(); ++i) {
    packet[i] = static_cast<std::uint8_t>(random_bits({27, number}, i));
  }
  in_network::write_header(header, packet.data());
  if (draw(5, 8) == 0) {
    std::uint8_t& byte = packet[draw(6, in_network::kHeaderBytes)];
    byte = static_cast<std::uint8_t>(byte ^ 1u << draw(7, 8));
  }
  if (draw(8, 40) == 0) packet.resize(draw(9, packet.size() + 1));
  return packet;
}

TEST_P(XdpVectors, DrawnPacketsGetTheRepliesOfTheRules) {
  RecordedGateway recorded(GetParam() ? kRecordedGroup : UdpAddress());
  ASSERT_FALSE(HasFailure());
  auto rules = *in_network::SlotRules::make(in_network::kRecordedSlots);
  Bytes reply(in_network::kPacketBytesMax);
  CurrentPhases phases = {};
  for (std::uint32_t number = 0; number < 4000; ++number) {
    SCOPED_TRACE(number);
    for (std::uint16_t handle = 7; handle <= 8; ++handle) {
      if (number % 2000 != 0) continue;
      in_network::SlotJob job = {.handle = handle,
                                 .epoch = 1 + number / 2000,
                                 .agents = 3,
                                 .granularity = handle == 7 ? 60u : 900u,
                                 .table = 5,
                                 .slots = 2};
      job.packet_values = number == 0 ? 0 : 512;
      for (std::uint16_t i = 0; i < 16; ++i) {
        job.places[i] = static_cast<std::uint16_t>(i * job.granularity / 15);
      }
      ASSERT_TRUE(rules.install(job).ok());
      ASSERT_TRUE(recorded.gateway().install(job).ok());
    }
    if (number % 2000 == 0) phases = {};
    const Bytes packet = drawn_packet(number, phases);
    const auto wrong_source = random_bits({26, 10}, number) % 50 == 0;
    const auto source = static_cast<std::uint16_t>(
        wrong_source || packet.size() < in_network::kHeaderBytes ? 9 : 1 + packet[6]);
    const in_network::SlotReply expected = rules.handle(packet, source_of(source).number(), reply);
    const Answer answer = recorded.send(source, packet);
    ASSERT_EQ(answer.to, expected.to);
    if (expected.to == ReplyTo::all_agents) ++phases[packet[4] - 7u][packet[16]];
    ASSERT_EQ(answer.reply,
              Bytes(reply.begin(), reply.begin() + static_cast<std::ptrdiff_t>(expected.bytes)));
  }
  const in_network::SlotCounters counters = recorded.gateway().counters().rules;
  EXPECT_EQ(counters.drops, rules.counters().drops);
  EXPECT_EQ(counters.contributions, rules.counters().contributions);
  EXPECT_EQ(counters.repeats, rules.counters().repeats);
  EXPECT_EQ(counters.results, rules.counters().results);
  EXPECT_EQ(counters.resent, rules.counters().resent);
  EXPECT_EQ(counters.refusals, rules.counters().refusals);
  EXPECT_GT(counters.results, 200u);
  EXPECT_GT(counters.dropped(), 200u);
}

// One agent of a job: contributes to all slots, then repeats until all results have come.
class BusyAgent {
 public:
  static constexpr std::uint8_t kAll = 4;
  static constexpr std::uint16_t kSlots = 256;
  static constexpr std::uint32_t kPhases = 32;
  static constexpr std::uint16_t kCount = 1024;
  static constexpr std::uint32_t kTriesMax = 100'000;

  BusyAgent(int program, std::uint8_t agent) : program_(program), agent_(agent) {}

  void run() {
    for (std::uint32_t phase = 0; phase < kPhases && wrong_ == 0; ++phase) {
      for (std::uint16_t slot = 0; slot < kSlots; ++slot) send(phase, slot);
      for (std::uint16_t slot = 0; slot < kSlots; ++slot) wait_for_result(phase, slot);
    }
  }
  std::uint32_t wrong() const { return wrong_; }

 private:
  TestRun send(std::uint32_t phase, std::uint16_t slot) const {
    Bytes packet(in_network::kHeaderBytes + kCount / 2, level(phase, agent_));
    in_network::write_header({.agent = agent_,
                              .agents = kAll,
                              .job = 7,
                              .epoch = 1,
                              .sequence = phase,
                              .slot = slot,
                              .count = kCount,
                              .table = 5},
                             packet.data());
    return test_run(program_, frame_of({source_of(agent_), kRecordedListen}, packet));
  }
  void wait_for_result(std::uint32_t phase, std::uint16_t slot) {
    TestRun run;
    for (std::uint32_t tries = 0; tries < kTriesMax && run.action != XDP_TX; ++tries) {
      if (tries > 0) std::this_thread::yield();
      run = send(phase, slot);
    }
    std::uint8_t sum = 0;
    for (std::uint8_t a = 0; a < kAll; ++a) {
      sum = static_cast<std::uint8_t>(sum + 2 * (level(phase, a) & 15));
    }
    const std::ptrdiff_t sums_at =
        kFrameBytes + in_network::kHeaderBytes + in_network::kContributorsBytes;
    if (run.action != XDP_TX ||
        Bytes(run.frame.begin() + sums_at, run.frame.end()) != Bytes(kCount, sum)) {
      ++wrong_;
    }
  }
  // Both levels of a byte are the same.
  static std::uint8_t level(std::uint32_t phase, std::uint8_t agent) {
    return static_cast<std::uint8_t>(0x11 * (random_bits({28, agent}, phase) & 15));
  }

  const int program_;
  const std::uint8_t agent_;
  std::uint32_t wrong_ = 0;
};

// Contributions to the same slots from several processors at once.
TEST_F(XdpProgram, SumsAreExactOnSeveralProcessors) {
  const auto gateway = Gateway::load(
      {.slots = BusyAgent::kSlots, .listen = kRecordedListen, .group = kRecordedGroup});
  ASSERT_TRUE(gateway.ok()) << gateway.status().text();
  in_network::SlotJob job = {.handle = 7,
                             .epoch = 1,
                             .agents = BusyAgent::kAll,
                             .granularity = 30,
                             .table = 5,
                             .slots = BusyAgent::kSlots};
  for (std::uint16_t i = 0; i < 16; ++i) job.places[i] = static_cast<std::uint16_t>(2 * i);
  ASSERT_TRUE((*gateway)->install(job).ok());
  std::vector<BusyAgent> agents;
  std::vector<std::thread> threads;
  for (std::uint8_t a = 0; a < BusyAgent::kAll; ++a) {
    agents.emplace_back((*gateway)->program_file(), a);
  }
  for (BusyAgent& agent : agents) threads.emplace_back([&agent] { agent.run(); });
  for (std::thread& thread : threads) thread.join();
  for (const BusyAgent& agent : agents) EXPECT_EQ(agent.wrong(), 0u);
  EXPECT_EQ((*gateway)->counters().rules.results, BusyAgent::kPhases * BusyAgent::kSlots);
}

INSTANTIATE_TEST_SUITE_P(Replies, XdpVectors, testing::Bool(),
                         [](const auto& by) { return by.param ? "ByGroup" : "ByTheLoader"; });

// Packets that are not plainly for the aggregator belong to the kernel, whatever is in them.
TEST_F(XdpProgram, OtherPacketsAreTheKernels) {
  const auto gateway = Gateway::load({.slots = 1, .listen = kRecordedListen, .group = {}});
  ASSERT_TRUE(gateway.ok()) << gateway.status().text();
  const Bytes good = frame_of({source_of(1), kRecordedListen}, Bytes(56, 0));
  const auto action = [&](const Bytes& frame) {
    return test_run((*gateway)->program_file(), frame).action;
  };
  EXPECT_EQ(action(good), static_cast<std::uint32_t>(XDP_DROP));
  const auto changed = [&](std::size_t at, std::uint8_t value) {
    Bytes frame = good;
    frame[at] = value;
    return action(frame);
  };
  constexpr std::size_t kIp = sizeof(ethhdr);
  constexpr std::size_t kUdp = kIp + sizeof(iphdr);
  const std::vector<std::pair<std::size_t, std::uint8_t>> changes = {
      {12, 0x86},        // ethertype
      {kIp, 0x46},       // IP options
      {kIp + 6, 0x20},   // a fragment, more follow
      {kIp + 7, 0x01},   // a later fragment
      {kIp + 9, 6},      // TCP
      {kIp + 19, 9},     // another address
      {kIp + 3, 0xff},   // IP length
      {kUdp + 3, 0x01},  // another port
      {kUdp + 5, 0x03},  // UDP length, too short
      {kUdp + 4, 0x40},  // UDP length, too long
  };
  for (const auto& [at, value] : changes) {
    EXPECT_EQ(changed(at, value), static_cast<std::uint32_t>(XDP_PASS)) << at;
  }
  EXPECT_EQ(action(Bytes(good.begin(), good.begin() + 20)), static_cast<std::uint32_t>(XDP_PASS));
  EXPECT_EQ((*gateway)->counters().rules.dropped(), 1u);
}

}  // namespace
}  // namespace tributary::switch_xdp
