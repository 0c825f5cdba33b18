// Exchanges over MPI, with a member at each rank. The result must equal the specification, which
// each rank computes by itself.
#include <gtest/gtest.h>

#include "core/collective/exchange_testing.h"
#include "core/collective/run.h"
#include "core/net/mpi/ranks_testing.h"

namespace tributary {
namespace {

using codec_testing::bits_of;
using codec_testing::codec_of;
using codec_testing::Pattern;
using exchange_testing::Specification;
using exchange_testing::Updates;

constexpr std::uint32_t kSizes[] = {1, 2, 17, 63, 257, 1000, 4097, 30011};

Updates updates_of(std::uint32_t members) {
  Updates updates;
  for (std::uint32_t b = 0; b < 2 * members + 1; ++b) {
    std::vector<FloatVector> bucket;
    for (std::uint32_t m = 0; m < members; ++m) {
      bucket.push_back(
          codec_testing::update(Pattern::lognormal, kSizes[b % std::size(kSizes)], 100 * b + m));
    }
    updates.push_back(std::move(bucket));
  }
  return updates;
}

class MpiExchange : public ranks_testing::Ranks, public testing::WithParamInterface<std::string> {
 protected:
  void exchange(const Codec& codec, wire::Collective collective, std::uint64_t round);
  void expect_specified(const PeerExchange& exchange, const Codec& codec,
                        wire::Collective collective) const;

  Updates updates_ = updates_of(size());
  std::unique_ptr<ExchangeRunner> runner_;
};

void MpiExchange::exchange(const Codec& codec, wire::Collective collective, std::uint64_t round) {
  const Routes routes = *Routes::make(collective, size());
  std::vector<std::unique_ptr<Encoder>> encoders;
  std::vector<ExchangeBucket> buckets;
  for (std::uint32_t b = 0; b < updates_.size(); ++b) {
    const FloatVector& input = updates_[b][rank()];
    encoders.push_back(codec.make_encoder(static_cast<std::uint32_t>(input.size())));
    buckets.push_back({.codec = &codec,
                       .encoder = encoders.back().get(),
                       .input = input,
                       .round = exchange_testing::context(b, rank(), size())});
  }
  ExchangeCache cache;
  PeerExchange exchange(routes, rank(), std::move(buckets), cache, {});
  const Status ran =
      runner_->run(exchange, {.id = {.round = wire::RoundId(1, round, 1, 0), .session = 1},
                              .deadline = clock_.now() + kLate});
  ASSERT_TRUE(ran.ok()) << "rank " << rank() << ": " << ran.text();
  expect_specified(exchange, codec, collective);
}

void MpiExchange::expect_specified(const PeerExchange& exchange, const Codec& codec,
                                   wire::Collective collective) const {
  for (std::uint32_t b = 0; b < updates_.size(); ++b) {
    Specification expected(codec, collective, updates_[b], b);
    ASSERT_TRUE(expected.compute().ok());
    const std::vector<SharedSlice> results = exchange.results(b);
    ASSERT_EQ(results.size(), expected.results().size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      ASSERT_TRUE(std::ranges::equal(results[i].view(), expected.results()[i]))
          << "result " << i << " of bucket " << b << " at rank " << rank();
    }
    FloatVector sum(updates_[b][rank()].size());
    FloatVector scratch(sum.size());
    ASSERT_TRUE(exchange.decode(b, scratch, sum).ok());
    ASSERT_EQ(bits_of(sum), bits_of(expected.decoded())) << "bucket " << b;
    ASSERT_TRUE(exchange.left_over(b, sum).ok());
    ASSERT_EQ(bits_of(sum), bits_of(expected.left(rank()))) << "bucket " << b;
  }
}

// One mesh for all collectives: members that are ahead send into the exchange before theirs.
TEST_P(MpiExchange, EveryRankEndsWithTheSpecifiedBytes) {
  const std::unique_ptr<Codec> codec = codec_of(GetParam());
  ASSERT_NE(codec, nullptr);
  open();
  runner_ = std::make_unique<ExchangeRunner>(*mesh_, clock_);
  std::uint64_t round = 0;
  for (const wire::Collective collective : kCollectives) {
    SCOPED_TRACE(wire::EnumNameCollective(collective));
    ASSERT_NO_FATAL_FAILURE(exchange(*codec, collective, ++round));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, MpiExchange, testing::ValuesIn(codec_testing::default_specs()),
                         [](const auto& family) { return family.param; });

}  // namespace
}  // namespace tributary
