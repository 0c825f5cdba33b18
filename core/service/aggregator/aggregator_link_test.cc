// Tests of an agent's link to an aggregator, over real sockets on loopback.
#include "core/service/aggregator/aggregator_link.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <numeric>
#include <vector>

#include "core/service/aggregator/aggregator_link_testing.h"

namespace tributary {
namespace {

using in_network::DropReason;
using service_testing::TestAggregator;

constexpr std::uint32_t kLinkAgents = 3;
constexpr std::uint32_t kGranularity = 30;
constexpr std::size_t kLinkValues = 20 * 1024 + 64;
constexpr std::uint64_t kChunks = 21;             // of up to 1,024 values
constexpr std::int64_t kLongNs = 60'000'000'000;  // long enough for sanitizers

bool comes_true(const std::function<bool()>& condition) {
  const auto late = std::chrono::steady_clock::now() + std::chrono::nanoseconds(kLongNs);
  while (!condition() && std::chrono::steady_clock::now() < late) ::poll(nullptr, 0, 1);
  return condition();
}

// Receives what a link posts.
class Answers {
 public:
  void post(NetworkSummed answer) {
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(answer));
    changed_.notify_all();
  }
  NetworkSummed next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::nanoseconds(kLongNs),
                           [this] { return !answers_.empty(); })) {
      ADD_FAILURE() << "no answer";
      return {};
    }
    NetworkSummed answer = std::move(answers_.front());
    answers_.pop_front();
    return answer;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<NetworkSummed> answers_;
};

class AggregatorLinkTest : public testing::Test {
 protected:
  AggregatorLinkTest() {
    for (std::uint32_t i = 0; i < 16; ++i) {
      job_.places[i] = static_cast<std::uint16_t>(i * kGranularity / 15);
    }
    job_.handle = 7;
    job_.agents = kLinkAgents;
    job_.granularity = kGranularity;
    job_.table = 99;
    job_.slots = 16;
    make_links({.session = {.listen = {.ip = 0x7f000001}}});
  }
  void make_links(const AggregatorLinkOptions& options) {
    links_.clear();
    for (std::uint32_t a = 0; a < kLinkAgents; ++a) {
      auto link = AggregatorLink::make(options, clock_, [this, a](NetworkSummed answer) {
        answers_[a].post(std::move(answer));
      });
      ASSERT_TRUE(link.ok()) << link.status().text();
      links_.push_back(*std::move(link));
    }
  }
  // The aggregator must be stopped.
  void enter(std::uint32_t epoch, std::uint32_t granularity = kGranularity) {
    job_.epoch = epoch;
    job_.granularity = granularity;
    aggregator_->install(job_);
  }
  static Bytes levels(std::uint32_t agent, std::uint32_t bucket) {
    Bytes all(kLinkValues / 2);
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<std::uint8_t>(random_bits({bucket, agent}, i));
    }
    return all;
  }
  // Every epoch here is an attempt of its own.
  SumInNetwork order(std::uint32_t agent, std::uint32_t bucket, Bytes levels) const {
    return {.id = {.job = 5, .round = 1, .epoch = 1, .attempt = job_.epoch},
            .bucket = bucket,
            .aggregator = address_.text(),
            .handle = 7,
            .epoch = job_.epoch,
            .slot_count = job_.slots,
            .agent = static_cast<std::uint8_t>(agent),
            .agents = kLinkAgents,
            .table = 99,
            .wide = job_.wide(),
            .levels = SharedSlice(std::move(levels)),
            .deadline_ns = INT64_MAX};
  }
  void sum(std::uint32_t agent, std::uint32_t bucket, std::int64_t within_ns = kLongNs) {
    SumInNetwork bucket_order = order(agent, bucket, levels(agent, bucket));
    bucket_order.deadline_ns = clock_.now().count() + within_ns;
    links_[agent]->sum(std::move(bucket_order));
  }
  void stop(std::uint32_t attempt) {
    for (const auto& link : links_) {
      link->stop({.id = {.job = 5, .round = 1, .epoch = 1, .attempt = attempt}});
    }
  }
  void sum_all(std::uint32_t bucket) {
    for (std::uint32_t a = 0; a < kLinkAgents; ++a) sum(a, bucket);
  }
  Bytes expected(std::uint32_t bucket) const {
    std::vector<std::uint32_t> sums(kLinkValues);
    for (std::uint32_t a = 0; a < kLinkAgents; ++a) {
      const Bytes own = levels(a, bucket);
      for (std::size_t i = 0; i < kLinkValues; ++i) {
        sums[i] += job_.places[own[i / 2] >> (i % 2 * 4) & 15];
      }
    }
    Bytes bytes;
    for (const std::uint32_t sum : sums) {
      bytes.push_back(static_cast<std::uint8_t>(sum));
      if (job_.wide()) bytes.push_back(static_cast<std::uint8_t>(sum >> 8));
    }
    return bytes;
  }
  void expect_summed(std::uint32_t bucket) {
    for (std::uint32_t a = 0; a < kLinkAgents; ++a) expect_summed(a, bucket, answers_[a].next());
  }
  void expect_summed(std::uint32_t agent, std::uint32_t bucket, const NetworkSummed& answer) {
    SCOPED_TRACE(agent);
    EXPECT_TRUE(answer.status.ok()) << answer.status.text();
    EXPECT_EQ(answer.bucket, bucket);
    ASSERT_NE(answer.sums, nullptr);
    EXPECT_EQ(*answer.sums, expected(bucket));
    EXPECT_EQ(answer.packets - answer.repeats, kChunks);
  }
  // Every agent's next answer has this code and no sums.
  void expect_failed(StatusCode code, std::string_view text) {
    for (Answers& answers : answers_) {
      const NetworkSummed answer = answers.next();
      EXPECT_EQ(answer.status.code(), code) << answer.status.text();
      if (!answer.status.ok()) {
        EXPECT_NE(answer.status.text().find(text), std::string::npos) << answer.status.text();
      }
      EXPECT_EQ(answer.sums, nullptr);
    }
  }

  SystemClock clock_;
  std::unique_ptr<TestAggregator> aggregator_ = std::make_unique<TestAggregator>();
  UdpAddress address_ = aggregator_->address();
  in_network::SlotJob job_;
  std::array<Answers, kLinkAgents> answers_;  // outlive the links
  std::vector<std::unique_ptr<AggregatorLink>> links_;
};

TEST_F(AggregatorLinkTest, BucketsAreSummedInOrderWithLosses) {
  aggregator_->lost_permille = 30;
  enter(1);
  aggregator_->start();
  for (std::uint32_t bucket = 0; bucket < 4; ++bucket) sum_all(bucket);
  for (std::uint32_t bucket = 0; bucket < 4; ++bucket) expect_summed(bucket);
  aggregator_->stop();
  EXPECT_EQ(aggregator_->counters().results, 4 * kChunks);
  for (const auto& link : links_) {
    const AggregatorCounters counters = link->counters();
    EXPECT_EQ(counters.buckets_summed, 4u);
    EXPECT_EQ(counters.packets_out - counters.repeats, 4 * kChunks);
    EXPECT_FALSE(link->take_fault());
  }
}

TEST_F(AggregatorLinkTest, WideSumsHaveTwoBytes) {
  enter(1, 255);
  aggregator_->start();
  sum_all(0);
  for (std::uint32_t a = 0; a < kLinkAgents; ++a) EXPECT_EQ(*answers_[a].next().sums, expected(0));
}

TEST_F(AggregatorLinkTest, ResultsComeByMulticast) {
  aggregator_->group = {.ip = 0xefff2a02, .port = address_.port};  // 239.255.42.2
  make_links({.session = {.listen = {.ip = 0x7f000001}, .group = aggregator_->group}});
  enter(1);
  aggregator_->start();
  sum_all(0);
  expect_summed(0);
}

TEST_F(AggregatorLinkTest, ARestartedAggregatorIsUsedAgainInTheNextEpoch) {
  enter(1);
  aggregator_->restart();
  aggregator_->start();
  sum_all(0);
  sum_all(1);
  expect_failed(StatusCode::unavailable, "epoch 1 to be served, got a refusal: unknown_job");
  // The rest of the epoch is over without another packet.
  expect_failed(StatusCode::unavailable, "unknown_job");
  aggregator_->stop();
  enter(2);
  aggregator_->start();
  sum_all(2);
  expect_summed(2);
}

// A socket with another peer keeps the port from other processes, and the kernel refuses the
// packets of agents.
TEST_F(AggregatorLinkTest, AnUnusedPortIsNoticedBeforeTheDeadline) {
  const auto held = UdpPort::open({.listen = {.ip = 0x7f000001}, .peer = address_});
  ASSERT_TRUE(held.ok()) << held.status().text();
  address_ = (*held)->address();
  sum_all(0);
  expect_failed(StatusCode::unavailable, "expected a process at this port");
}

TEST_F(AggregatorLinkTest, ASilentAgentEndsTheOthersByTheDeadline) {
  enter(1);
  aggregator_->start();
  constexpr std::int64_t kSoonNs = 50'000'000;
  sum(0, 0, kSoonNs);
  sum(1, 0, kSoonNs);
  for (const std::uint32_t a : {0u, 1u}) {
    EXPECT_EQ(answers_[a].next().status.code(), StatusCode::deadline_exceeded);
  }
  // It comes too late, and finds no receiver.
  sum(2, 0, kSoonNs);
  EXPECT_EQ(answers_[2].next().status.code(), StatusCode::deadline_exceeded);
}

TEST_F(AggregatorLinkTest, AStoppedAttemptAnswersNothingMore) {
  enter(1);
  aggregator_->start();
  sum(0, 0);
  sum(0, 1);
  stop(2);  // another attempt: nothing happens
  stop(1);
  // Agent 0 has buckets that were stopped, so its slots are at other phases than those of agent 1.
  sum(0, 2);
  const NetworkSummed answer = answers_[0].next();
  EXPECT_EQ(answer.bucket, 2u);
  EXPECT_EQ(answer.status.code(), StatusCode::cancelled) << answer.status.text();
  aggregator_->stop();
  enter(2);
  aggregator_->start();
  sum_all(3);
  expect_summed(3);
}

// A round stops its exchanges when it is over. Its epoch serves the next round.
TEST_F(AggregatorLinkTest, AStopAfterAllAnswersKeepsTheEpoch) {
  enter(1);
  aggregator_->start();
  sum_all(0);
  expect_summed(0);
  stop(1);
  sum_all(1);
  expect_summed(1);
}

TEST_F(AggregatorLinkTest, ANewEpochDropsTheBucketsOfTheOneBefore) {
  enter(1);
  sum(0, 0);  // the others never come
  enter(2);
  sum_all(1);
  aggregator_->start();
  // The refusal of the old epoch's packets may come before agent 0's thread takes the new order. It
  // ends that bucket alone.
  NetworkSummed first = answers_[0].next();
  if (first.bucket == 0) {
    EXPECT_EQ(first.status.code(), StatusCode::unavailable) << first.status.text();
    first = answers_[0].next();
  }
  expect_summed(0, 1, first);
  for (const std::uint32_t a : {1u, 2u}) expect_summed(a, 1, answers_[a].next());
}

TEST_F(AggregatorLinkTest, BadOrdersAreErrors) {
  make_links({.session = {.listen = {.ip = 0x7f000001}}, .waiting_bytes_max = kLinkValues / 2 - 1});
  job_.epoch = 1;
  sum_all(0);
  expect_failed(StatusCode::resource_exhausted, "buckets that wait");
  job_.epoch = 2;
  for (std::uint32_t a = 0; a < kLinkAgents; ++a) links_[a]->sum(order(a, 0, Bytes(31)));
  expect_failed(StatusCode::invalid_argument, "a multiple of 64 values");
  job_.epoch = 3;
  for (std::uint32_t a = 0; a < kLinkAgents; ++a) {
    SumInNetwork bucket = order(a, 0, Bytes(32));
    bucket.aggregator = "gateway:4650";
    links_[a]->sum(std::move(bucket));
  }
  expect_failed(StatusCode::invalid_argument, "gateway:4650");
}

// The aggregator's own address, with bytes that are no packet of the job.
TEST_F(AggregatorLinkTest, PacketsThatDoNotFitAreCountedByReason) {
  aggregator_->truncates = true;
  enter(1);
  aggregator_->start();
  sum_all(0);
  for (const auto& link : links_) {
    ASSERT_TRUE(comes_true([&] { return link->counters().packets_in > 0; }));
  }
  stop(1);
  sum_all(1);
  expect_failed(StatusCode::cancelled, "an attempt that was stopped");
  for (const auto& link : links_) {
    const AggregatorCounters counters = link->counters();
    EXPECT_EQ(counters.ignored[static_cast<std::size_t>(DropReason::too_short)],
              counters.packets_in);
    EXPECT_EQ(counters.buckets_summed, 0u);
    EXPECT_EQ(counters.buckets_failed, 1u);
    const std::optional<Status> fault = link->take_fault();
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->code(), StatusCode::corrupt_data) << fault->text();
  }
}

}  // namespace
}  // namespace tributary
