// The recorded packets of switch_p4/vectors: the rules and the loop over sockets give the recorded
// replies, byte for byte.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "switch_p4/switchd/switch_loop.h"
#include "switch_p4/vectors/vector_file_testing.h"

namespace tributary::switchd {
namespace {

using in_network::kRecordedSlots;
using in_network::VectorFile;
using in_network::VectorRecord;

TEST(Vectors, TheRulesGiveTheRecordedReplies) {
  auto rules = *in_network::SlotRules::make(kRecordedSlots);
  Bytes reply(in_network::kPacketBytesMax);
  std::size_t number = 0;
  for (const VectorRecord& r : VectorFile::read(TRIBUTARY_VECTORS)) {
    SCOPED_TRACE(number++);
    if (r.kind == VectorRecord::Kind::install) {
      ASSERT_TRUE(rules.install(r.job).ok());
    } else if (r.kind == VectorRecord::Kind::restart) {
      rules = *in_network::SlotRules::make(kRecordedSlots);
    } else {
      const in_network::SlotReply got = rules.handle(r.packet, r.source, reply);
      ASSERT_EQ(got.to, r.to);
      ASSERT_EQ(name(got.reason), name(r.reason));
      ASSERT_EQ(Bytes(reply.begin(), reply.begin() + static_cast<std::ptrdiff_t>(got.bytes)),
                r.reply);
    }
  }
  EXPECT_GT(number, 100u);
}

// The loop with a socket for each source.
class LoopWithSources {
 public:
  LoopWithSources() : port_(open()) {
    for (int i = 0; i < 10; ++i) sources_.push_back(open());
    restart();
  }

  void restart() {
    rules_ = std::make_unique<in_network::SlotRules>(*in_network::SlotRules::make(kRecordedSlots));
    loop_ = std::make_unique<SwitchLoop>(*port_, *rules_, UdpAddress());
  }
  in_network::SlotRules& rules() { return *rules_; }

  void send(std::size_t source, const Bytes& packet) {
    sources_[source]->queue(port_->address(), packet);
    sources_[source]->flush();
    std::size_t handled = 0;
    while (handled == 0 && readable(*port_)) {
      const auto turn = loop_->turn();
      ASSERT_TRUE(turn.ok());
      handled = *turn;
    }
    ASSERT_EQ(handled, 1u);
  }
  void expect_reply(std::size_t source, const Bytes& reply) {
    Bytes got;
    ASSERT_TRUE(readable(*sources_[source]));
    ASSERT_TRUE(
        sources_[source]
            ->receive([&](ByteSpan bytes, UdpAddress) { got.assign(bytes.begin(), bytes.end()); })
            .ok());
    EXPECT_EQ(got, reply);
  }
  void expect_silence() {
    for (const auto& source : sources_) {
      const auto got = source->receive([](ByteSpan, UdpAddress) {});
      EXPECT_TRUE(got.ok());
      EXPECT_EQ(*got, 0u);
    }
  }
  // The numbers of the sources that get a result of this job.
  std::vector<std::size_t> agents(std::uint16_t job) const {
    std::vector<std::size_t> found;
    for (const in_network::PacketSource source : rules_->sources(job)) {
      for (std::size_t i = 0; i < sources_.size(); ++i) {
        if (sources_[i]->address().number() == source) found.push_back(i);
      }
    }
    return found;
  }

 private:
  static std::unique_ptr<UdpPort> open() {
    return *UdpPort::open({.listen = {.ip = 0x7f000001}, .batch = 8});
  }
  static bool readable(const UdpPort& port) {
    pollfd ready = {.fd = port.file(), .events = POLLIN, .revents = 0};
    return ::poll(&ready, 1, 30'000) == 1;
  }

  std::unique_ptr<UdpPort> port_;
  std::vector<std::unique_ptr<UdpPort>> sources_;
  std::unique_ptr<in_network::SlotRules> rules_;
  std::unique_ptr<SwitchLoop> loop_;
};

// Every reason occurs, and each bad packet is counted by its own.
TEST(Vectors, TheLoopSendsTheRecordedRepliesOverSockets) {
  LoopWithSources loop;
  std::uint16_t job = 0;
  std::size_t number = 0;
  std::array<std::uint64_t, in_network::kDropReasons> drops = {};
  std::set<in_network::DropReason> reasons;
  for (const VectorRecord& r : VectorFile::read(TRIBUTARY_VECTORS)) {
    SCOPED_TRACE(number++);
    if (r.kind == VectorRecord::Kind::install) {
      job = r.job.handle;
      ASSERT_TRUE(loop.rules().install(r.job).ok());
    } else if (r.kind == VectorRecord::Kind::restart) {
      loop.restart();
      drops = {};
    } else {
      loop.send(r.source, r.packet);
      if (r.reason != in_network::DropReason::none) ++drops[static_cast<std::size_t>(r.reason)];
      EXPECT_EQ(loop.rules().counters().drops, drops) << name(r.reason);
      reasons.insert(r.reason);
      if (r.to == in_network::ReplyTo::sender) loop.expect_reply(r.source, r.reply);
      if (r.to == in_network::ReplyTo::all_agents) {
        const auto agents = loop.agents(job);
        ASSERT_EQ(agents.size(), loop.rules().sources(job).size());
        for (const std::size_t agent : agents) loop.expect_reply(agent, r.reply);
      }
      loop.expect_silence();
    }
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_EQ(reasons.size(), in_network::kDropReasons);  // and none
}

}  // namespace
}  // namespace tributary::switchd
