// Exchanges between threads over real sockets, and the reaction of the others if one fails.
#include "core/collective/run.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/base/sanitized_testing.h"
#include "core/collective/exchange_testing.h"
#include "core/net/mesh/tcp/mesh.h"

namespace tributary {
namespace {

using codec_testing::codec_of;
using codec_testing::Pattern;
using exchange_testing::Specification;
using exchange_testing::Updates;
using std::chrono::milliseconds;

constexpr std::uint32_t kMembers = 4;

// Four members with ports, keys and a thread each, in this process. A bucket has 3,001 values, so
// no cut is even.
class Runs : public testing::Test {
 protected:
  Runs() {
    for (std::uint32_t m = 0; m < kMembers; ++m) {
      ports_.push_back(*MeshPort::open("tcp://127.0.0.1:0"));
      keys_.push_back(std::make_shared<const KeyPair>(*make_key_pair()));
      options_.members.push_back({.endpoint = ports_[m]->endpoint(), .key = keys_[m]->public_key});
    }
    options_.session = 5;
    options_.connect_max = milliseconds(2000);
  }

  static Updates updates(std::uint64_t round) {
    Updates all;
    for (std::uint32_t b = 0; b < 2 * kMembers; ++b) {
      std::vector<FloatVector> bucket;
      for (std::uint32_t m = 0; m < kMembers; ++m) {
        bucket.push_back(codec_testing::update(
            Pattern::normal, 3001, 100 * b + m + 1000 * static_cast<std::uint32_t>(round)));
      }
      all.push_back(std::move(bucket));
    }
    return all;
  }

  // A member in a thread of its own: rounds one after another, until one fails.
  class Member {
   public:
    Member(Runs& runs, std::uint32_t rank, const Codec& codec, wire::Collective collective)
        : rank_(rank), codec_(codec), routes_(*Routes::make(collective, kMembers)) {
      MeshOptions options = runs.options_;
      options.rank = rank;
      options.keys = runs.keys_[rank];
      mesh_ = *open_mesh(*runs.ports_[rank], options, clock_);
      runner_.emplace(*mesh_, clock_);
    }

    Status play(std::uint64_t round, const Updates& updates, milliseconds time) {
      std::vector<ExchangeBucket> buckets;
      encoders_.clear();
      for (std::uint32_t b = 0; b < updates.size(); ++b) {
        const FloatVector& input = updates[b][rank_];
        encoders_.push_back(codec_.make_encoder(static_cast<std::uint32_t>(input.size())));
        buckets.push_back({.codec = &codec_,
                           .encoder = encoders_.back().get(),
                           .input = input,
                           .round = exchange_testing::context(b, rank_, kMembers)});
      }
      exchange_ =
          std::make_unique<PeerExchange>(routes_, rank_, std::move(buckets), cache_, Execution());
      return runner_->run(*exchange_, {.id = {.round = wire::RoundId(1, round, 1, 0), .session = 5},
                                       .deadline = clock_.now() + time});
    }

    PeerExchange& exchange() { return *exchange_; }
    Transport& mesh() { return *mesh_; }
    void vanish() {
      runner_.reset();
      mesh_.reset();
    }

   private:
    const std::uint32_t rank_;
    const Codec& codec_;
    const Routes routes_;
    SystemClock clock_;
    std::unique_ptr<Transport> mesh_;
    std::optional<ExchangeRunner> runner_;
    std::vector<std::unique_ptr<Encoder>> encoders_;
    ExchangeCache cache_;
    std::unique_ptr<PeerExchange> exchange_;
  };

  std::vector<std::unique_ptr<MeshPort>> ports_;
  std::vector<std::shared_ptr<const KeyPair>> keys_;
  MeshOptions options_;
};

// Three rounds without a barrier: a fast member sends pieces of a round that a slow one has not
// begun.
TEST_F(Runs, RoundsGoOnWithoutWaitingForOneAnother) {
  // A sanitizer runs a codec of each way to sum: values, whole numbers, and chosen values.
  std::vector<const char*> specs{"fp32", "thc", "topk"};
  if (!kSanitized) specs.insert(specs.end(), {"gcomp", "var_topk"});
  for (const char* const spec : specs) {
    const auto codec = codec_of(spec);
    for (const wire::Collective collective : kCollectives) {
      std::vector<std::unique_ptr<Member>> members;
      for (std::uint32_t m = 0; m < kMembers; ++m) {
        members.push_back(std::make_unique<Member>(*this, m, *codec, collective));
      }
      std::vector<std::thread> threads;
      std::vector<Status> outcomes(kMembers);
      for (std::uint32_t m = 0; m < kMembers; ++m) {
        threads.emplace_back([&, m] {
          for (std::uint64_t round = 1; round <= 3 && outcomes[m].ok(); ++round) {
            outcomes[m] = members[m]->play(round, updates(round), milliseconds(20'000));
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      const Updates last = updates(3);
      for (std::uint32_t m = 0; m < kMembers; ++m) {
        ASSERT_TRUE(outcomes[m].ok()) << outcomes[m].text();
        for (std::uint32_t b = 0; b < last.size(); ++b) {
          Specification expected(*codec, collective, last[b], b);
          ASSERT_TRUE(expected.compute().ok());
          FloatVector sum(last[b][m].size());
          FloatVector scratch(sum.size());
          ASSERT_TRUE(members[m]->exchange().decode(b, scratch, sum).ok());
          ASSERT_EQ(codec_testing::bits_of(sum), codec_testing::bits_of(expected.decoded()))
              << spec << " by " << wire::EnumNameCollective(collective);
        }
      }
    }
  }
}

// A ring in which member 2 misbehaves; member 3 is the next one.
class FailingRuns : public Runs {
 protected:
  using Misbehave = std::function<void(Member&)>;

  static void send_to_next(Member& member, const Piece& piece, std::uint64_t round) {
    const FloatVector values(10, 1.0f);
    Bytes payload;
    ASSERT_TRUE(codec_of("fp32")->make_encoder(10)->encode({}, values, payload).ok());
    const ExchangeId id = {.round = wire::RoundId(1, round, 1, 0), .session = 5};
    const SystemClock clock;
    ASSERT_TRUE(
        member.mesh().send(3, *piece_frame(id, piece, true, payload), SharedSlice(payload)).ok());
    while (member.mesh().waiting_bytes() > 0) {
      ASSERT_TRUE(member.mesh().receive(clock.now() + milliseconds(10)).ok());
    }
  }

  // Runs a ring in which member 2 misbehaves.
  std::vector<Status> outcomes_beside(const Misbehave& misbehave, milliseconds time) {
    const auto codec = codec_of("fp32");
    std::vector<std::unique_ptr<Member>> members;
    for (std::uint32_t m = 0; m < kMembers; ++m) {
      members.push_back(std::make_unique<Member>(*this, m, *codec, wire::Collective::ring));
    }
    std::vector<Status> outcomes(kMembers);
    std::vector<std::thread> threads;
    for (std::uint32_t m = 0; m < kMembers; ++m) {
      if (m == 2) continue;
      threads.emplace_back([&, m] {
        outcomes[m] = members[m]->play(1, updates(1), time);
        members[m]->vanish();  // as an agent does that falls back to the coordinator
      });
    }
    misbehave(*members[2]);
    for (std::thread& thread : threads) thread.join();
    return outcomes;
  }
};

// The deadline is 300 ms.
TEST_F(FailingRuns, SilenceEndsWithTheDeadline) {
  const auto outcomes = outcomes_beside([](Member&) {}, milliseconds(300));
  for (const std::uint32_t m : {0u, 1u, 3u}) EXPECT_FALSE(outcomes[m].ok()) << m;
  // Its neighbours' errors name it; the third member may have lost a neighbour first.
  EXPECT_NE(outcomes[3].text().find('2'), std::string::npos) << outcomes[3].text();
}

// Member 2 begins a later round and then disappears. The others must not wait for the deadline of 3
// s.
TEST_F(FailingRuns, AWaitingMemberDetectsALostOne) {
  const auto outcomes = outcomes_beside(
      [&](Member& member) {
        send_to_next(member, {.bucket = 0, .partial = true, .origin = 2}, 2);
        member.vanish();
        ports_[2].reset();  // like a killed process
      },
      milliseconds(3000));
  EXPECT_EQ(outcomes[3].code(), StatusCode::unavailable) << outcomes[3].text();
  // The others notice later, when another member aborts the round or at the deadline.
  for (const std::uint32_t m : {0u, 1u}) EXPECT_FALSE(outcomes[m].ok()) << m;
}

// The error names a mismatch, so that a faulty build is distinguishable from a faulty link.
TEST_F(FailingRuns, TheReceiverRefusesAWrongPiece) {
  const auto outcomes = outcomes_beside(
      [&](Member& member) {
        // A partial sum of a bucket that does not use this path.
        send_to_next(member, {.bucket = 99, .partial = true, .origin = 2}, 1);
      },
      milliseconds(2000));
  EXPECT_EQ(outcomes[3].code(), StatusCode::mismatch) << outcomes[3].text();
  for (const std::uint32_t m : {0u, 1u}) EXPECT_FALSE(outcomes[m].ok()) << m;
}

}  // namespace
}  // namespace tributary
