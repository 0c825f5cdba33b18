// The recorded packets of switch_p4/vectors: the rules and the loop over sockets give the recorded
// replies, byte for byte.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/base/files/file.h"
#include "switch_p4/switchd/switch_loop.h"

namespace tributary::switchd {
namespace {

constexpr std::uint32_t kRecordedSlots = 4;

struct Record {
  enum class Kind : std::uint8_t { install = 1, restart, packet };
  Kind kind;
  in_network::SlotJob job;
  std::uint16_t source = 0;
  Bytes packet = {};
  in_network::ReplyTo to = in_network::ReplyTo::none;
  in_network::DropReason reason = in_network::DropReason::none;
  Bytes reply = {};
};

// The file is ours; a field that is missing throws.
class Vectors {
 public:
  static std::vector<Record> read() {
    const auto bytes = read_file(TRIBUTARY_VECTORS, 1u << 20);
    EXPECT_TRUE(bytes.ok()) << bytes.status().text();
    Vectors vectors(*bytes);
    EXPECT_EQ(as_text(vectors.blob(4)), "TNV1");
    std::vector<Record> records;
    while (vectors.reader_.remaining() > 0) records.push_back(vectors.record());
    return records;
  }

 private:
  explicit Vectors(ByteSpan bytes) : reader_(bytes) {}
  template <typename T>
  T number() {
    return reader_.read<T>("a vector").value();
  }
  Bytes blob(std::size_t size) {
    const ByteSpan span = reader_.take(size, "a vector").value();
    return Bytes(span.begin(), span.end());
  }
  Record record() {
    Record r = {.kind = static_cast<Record::Kind>(number<std::uint8_t>()), .job = {}};
    if (r.kind == Record::Kind::install) {
      r.job.handle = number<std::uint16_t>();
      r.job.epoch = number<std::uint32_t>();
      r.job.agents = number<std::uint8_t>();
      r.job.granularity = number<std::uint16_t>();
      r.job.table = number<std::uint16_t>();
      r.job.slots = number<std::uint16_t>();
      for (std::uint16_t& place : r.job.places) place = number<std::uint16_t>();
    } else if (r.kind == Record::Kind::packet) {
      r.source = number<std::uint16_t>();
      r.packet = blob(number<std::uint16_t>());
      r.to = static_cast<in_network::ReplyTo>(number<std::uint8_t>());
      r.reason = static_cast<in_network::DropReason>(number<std::uint8_t>());
      r.reply = blob(number<std::uint16_t>());
    }
    return r;
  }

  ByteReader reader_;
};

TEST(Vectors, TheRulesGiveTheRecordedReplies) {
  auto rules = *in_network::SlotRules::make(kRecordedSlots);
  Bytes reply(in_network::kPacketBytesMax);
  std::size_t number = 0;
  for (const Record& r : Vectors::read()) {
    SCOPED_TRACE(number++);
    if (r.kind == Record::Kind::install) {
      ASSERT_TRUE(rules.install(r.job).ok());
    } else if (r.kind == Record::Kind::restart) {
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

TEST(Vectors, TheLoopSendsTheRecordedRepliesOverSockets) {
  LoopWithSources loop;
  std::uint16_t job = 0;
  std::size_t number = 0;
  for (const Record& r : Vectors::read()) {
    SCOPED_TRACE(number++);
    if (r.kind == Record::Kind::install) {
      job = r.job.handle;
      ASSERT_TRUE(loop.rules().install(r.job).ok());
    } else if (r.kind == Record::Kind::restart) {
      loop.restart();
    } else {
      loop.send(r.source, r.packet);
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
}

}  // namespace
}  // namespace tributary::switchd
