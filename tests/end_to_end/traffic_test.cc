// The bytes of the TCP streams must equal the payloads in the journal plus the framing documented
// in docs/wire.md: nothing else is sent.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "core/store/coordinator/run_file.h"
#include "tests/end_to_end/federation/federation.h"
#include "tests/end_to_end/federation/relay.h"

namespace tributary::end_to_end {
namespace {

constexpr std::uint64_t kAgents = 2;
constexpr std::uint64_t kWireRounds = 16;
constexpr std::uint64_t kValues = 100'000;
constexpr double kTolerance = 0.03;

struct Traffic {
  double up = 0;
  double down = 0;
};

// Sizes from the tables of docs/wire.md, "What it costs", with encryption.
constexpr std::uint64_t part(std::uint64_t bytes) { return bytes + (bytes <= 222 ? 35 : 42); }
constexpr std::uint64_t kAck = part(72);
constexpr std::uint64_t kUpdate = part(176);
constexpr std::uint64_t kAggregate = part(176);
constexpr std::uint64_t kReceipt = part(136);
constexpr std::uint64_t kReport = part(288);
constexpr std::uint64_t kApplied = part(120);
constexpr std::uint64_t plan_of(std::uint64_t buckets) { return part(444 + 20 * buckets); }
constexpr std::uint64_t commit_of(std::uint64_t buckets) { return part(284 + 28 * buckets); }
// Aggregates that arrive together share an acknowledgement. Those above 8 KiB have one each, which
// is small in comparison.
constexpr std::uint64_t kBulkAcks = 2;
constexpr std::uint64_t kOfPayload = 42;
constexpr std::uint64_t kJoinUp = 2'300;
constexpr std::uint64_t kJoinDown = 2'000;
constexpr std::uint64_t kModelPartBytes = 256 << 10;
constexpr std::uint64_t kTransferPart = part(112) + kOfPayload;

Traffic framing(std::uint64_t buckets) {
  constexpr std::uint64_t kModelParts = (4 * kValues + kModelPartBytes - 1) / kModelPartBytes;
  const std::uint64_t round_up =
      buckets * (kUpdate + kOfPayload) + kReport + kApplied + 2 * kAck + kBulkAcks * kAck;
  const std::uint64_t round_down = buckets * (kAggregate + kOfPayload + kReceipt) +
                                   plan_of(buckets) + commit_of(buckets) + 2 * kAck;
  return {.up = static_cast<double>(kAgents * (kJoinUp + kWireRounds * round_up)),
          .down = static_cast<double>(
              kAgents * (kJoinDown + kModelParts * kTransferPart + kWireRounds * round_down))};
}

struct WireCase {
  const char* name;
  const char* codec;
  std::uint64_t buckets;
};

// 3LC gets the only layer whole; the other bucket sizes are up to 8,192 values.
constexpr WireCase kWireCases[] = {{"Dense", "fp32", 13}, {"Threelc", "threelc:s=1.75", 1}};

class OnTheWire : public testing::TestWithParam<WireCase> {
 protected:
  void SetUp() override {
    federation_.start_coordinator();
    const Relay relay(federation_.endpoint());
    for (std::uint32_t i = 0; i < kAgents; ++i) {
      federation_.set_for_agent(i, "link.coordinator=" + relay.endpoint());
      federation_.start_agent(i);
    }
    federation_.expect_all_end();
    // A second connection would repeat the handshake and the model.
    ASSERT_EQ(relay.connections(), kAgents) << "nobody has lost a connection";
    carried_ = {.up = static_cast<double>(relay.bytes_up()),
                .down = static_cast<double>(relay.bytes_down())};
    read_journal();
  }

  void read_journal() {
    const auto file = RunFile::open(federation_.coordinator_journal());
    ASSERT_TRUE(file.ok()) << file.status().text();
    const auto jobs = (*file)->jobs();
    ASSERT_TRUE(jobs.ok()) << jobs.status().text();
    const auto rounds = (*file)->rounds(jobs->front().job, 1, kWireRounds);
    ASSERT_TRUE(rounds.ok()) << rounds.status().text();
    ASSERT_EQ(rounds->size(), kWireRounds);
    for (const RoundRecord& round : *rounds) {
      payloads_.up += static_cast<double>(round.bytes_up);
      payloads_.down += static_cast<double>(round.bytes_down);
    }
    for (const auto& [name, sum] :
         {std::pair{"wire_bytes_up", &journal_.up}, std::pair{"wire_bytes_down", &journal_.down}}) {
      const auto readings = (*file)->metrics(name, 0, 1'000);
      ASSERT_TRUE(readings.ok()) << readings.status().text();
      ASSERT_EQ(readings->size(), kWireRounds) << name;
      for (const StoredMetric& reading : *readings) *sum += reading.value;
    }
  }

  // The limits are so generous that nothing is repeated because a process was slow.
  Federation federation_{
      {.agents = kAgents,
       .rounds = kWireRounds,
       .parameters = kValues,
       .codec = GetParam().codec,
       .coordinator_settings = {"job.bucket_values=8192", "heartbeat.interval_ms=30000",
                                "heartbeat.timeout_ms=90000", "retry.ack_timeout_ms=30000",
                                "job.deadline_ms=60000"}}};
  Traffic carried_;   // TCP streams, counted by the relay
  Traffic journal_;   // counted by the coordinator's link
  Traffic payloads_;  // counted by the rounds
};

TEST_P(OnTheWire, IsThePayloadsAndTheFramingThatIsDocumented) {
  constexpr double kModels = 4.0 * kValues * kAgents;  // each agent fetches one model when it joins
  const Traffic frames = framing(GetParam().buckets);
  const double up = payloads_.up + frames.up;
  const double down = payloads_.down + kModels + frames.down;
  EXPECT_NEAR(carried_.up, up, kTolerance * up);
  EXPECT_NEAR(carried_.down, down, kTolerance * down);
}

TEST_P(OnTheWire, MatchesTheJournal) {
  EXPECT_NEAR(journal_.up, carried_.up, kTolerance * carried_.up);
  EXPECT_NEAR(journal_.down, carried_.down, kTolerance * carried_.down);
}

INSTANTIATE_TEST_SUITE_P(Codecs, OnTheWire, testing::ValuesIn(kWireCases),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace tributary::end_to_end
