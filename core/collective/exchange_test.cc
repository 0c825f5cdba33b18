// Tests of exchanges among members in memory. The specification, computed at once, is the reference
// for every collective and codec, also with repeats, detours and losses.
#include "core/collective/exchange.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/collective/exchange_testing.h"

namespace tributary {
namespace {

using codec_testing::codec_of;
using codec_testing::Pattern;
using exchange_testing::Members;
using exchange_testing::Specification;
using exchange_testing::Updates;

// Sizes around the edges of vectors and blocks. Their number makes every member the owner of two
// buckets.
constexpr std::uint32_t kSizes[] = {1, 2, 17, 63, 257, 1000, 4097};

// One update per bucket and member, with buckets of all sizes.
Updates updates_of(std::uint32_t members, Pattern pattern) {
  Updates updates;
  for (std::uint32_t b = 0; b < 2 * members + 1; ++b) {
    std::vector<FloatVector> bucket;
    for (std::uint32_t m = 0; m < members; ++m) {
      bucket.push_back(codec_testing::update(pattern, kSizes[b % std::size(kSizes)], 100 * b + m));
    }
    updates.push_back(std::move(bucket));
  }
  return updates;
}

class ExchangeCases : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_NE(codec_ = codec_of(GetParam()), nullptr); }
  std::unique_ptr<Codec> codec_;
};

void expect_specified(Members& members, const Codec& codec, wire::Collective collective,
                      const Updates& updates) {
  for (std::uint32_t b = 0; b < updates.size(); ++b) {
    Specification expected(codec, collective, updates[b], b);
    const Status computed = expected.compute();
    ASSERT_TRUE(computed.ok()) << computed.text();
    for (std::uint32_t m = 0; m < updates[b].size(); ++m) {
      ASSERT_TRUE(members[m].whole(b)) << "bucket " << b << " of member " << m;
      const std::vector<ByteSpan> combined = members[m].combined(b);
      ASSERT_EQ(combined.size(), expected.combined().size());
      for (std::size_t s = 0; s < combined.size(); ++s) {
        ASSERT_TRUE(std::ranges::equal(combined[s], expected.combined()[s]))
            << "stage " << s << " of bucket " << b << " of member " << m;
      }
      const std::vector<SharedSlice> results = members[m].results(b);
      ASSERT_EQ(results.size(), expected.results().size());
      for (std::size_t i = 0; i < results.size(); ++i) {
        ASSERT_TRUE(std::ranges::equal(results[i].view(), expected.results()[i]))
            << "result " << i << " of bucket " << b << " of member " << m;
      }
      FloatVector sum(updates[b][m].size());
      FloatVector scratch(sum.size());
      ASSERT_TRUE(members[m].decode(b, scratch, sum).ok());
      ASSERT_EQ(codec_testing::bits_of(sum), codec_testing::bits_of(expected.decoded()));
      ASSERT_TRUE(members[m].left_over(b, sum).ok());
      ASSERT_EQ(codec_testing::bits_of(sum), codec_testing::bits_of(expected.left(m)))
          << "residual of bucket " << b << " of member " << m;
    }
  }
}

TEST_P(ExchangeCases, EveryMemberEndsWithTheSpecifiedBytes) {
  for (const wire::Collective collective : kCollectives) {
    for (std::uint32_t n = 1; n <= 9; ++n) {
      const Updates updates = updates_of(n, Pattern::lognormal);
      Members members(*codec_, collective, updates);
      const Status played = members.play(n);
      ASSERT_TRUE(played.ok()) << wire::EnumNameCollective(collective) << " of " << n << ": "
                               << played.text();
      expect_specified(members, *codec_, collective, updates);
      if (HasFatalFailure()) {
        FAIL() << wire::EnumNameCollective(collective) << " of " << n;
      }
    }
  }
}

// Repeated and reordered payloads do not change the result, whatever the order of arrival.
TEST_P(ExchangeCases, RepeatsAndDetoursChangeNothing) {
  for (const wire::Collective collective : kCollectives) {
    for (const std::uint32_t n : {2u, 4u, 7u}) {
      const Updates updates = updates_of(n, Pattern::normal);
      Members members(*codec_, collective, updates);
      members.set_faults({.twice = 80, .overtaken = 80});
      const Status played = members.play(n + 1);
      ASSERT_TRUE(played.ok()) << wire::EnumNameCollective(collective) << " of " << n << ": "
                               << played.text();
      expect_specified(members, *codec_, collective, updates);
      if (HasFatalFailure()) FAIL() << wire::EnumNameCollective(collective) << " of " << n;
    }
  }
}

// If any payload is lost, no member takes a part for the whole. A bucket that is complete at a
// member has the right result; the other buckets stay open and are reported as open.
TEST_P(ExchangeCases, ALossLeavesBucketsOpenAndNoneWrong) {
  for (const wire::Collective collective : kCollectives) {
    const std::uint32_t n = 5;
    const Updates updates = updates_of(n, Pattern::normal);
    Members members(*codec_, collective, updates);
    members.set_faults({.twice = 30, .overtaken = 30, .lost = 40});
    ASSERT_TRUE(members.play(3).ok());
    std::uint32_t open = 0;
    for (std::uint32_t b = 0; b < updates.size(); ++b) {
      Specification expected(*codec_, collective, updates[b], b);
      ASSERT_TRUE(expected.compute().ok());
      for (std::uint32_t m = 0; m < n; ++m) {
        if (!members[m].whole(b)) {
          ++open;
          continue;
        }
        FloatVector sum(updates[b][m].size());
        FloatVector scratch(sum.size());
        ASSERT_TRUE(members[m].decode(b, scratch, sum).ok());
        ASSERT_EQ(codec_testing::bits_of(sum), codec_testing::bits_of(expected.decoded()));
      }
    }
    EXPECT_GT(open, 0u) << "nothing was lost";
    std::uint32_t reported_open = 0;
    for (std::uint32_t m = 0; m < n; ++m) reported_open += members[m].buckets_open();
    EXPECT_EQ(reported_open, open);
  }
}

// The decoded sum and the residuals add up to the updates, whichever member encoded which partial
// sum.
TEST_P(ExchangeCases, NothingIsLost) {
  if (!codec_->conserves()) return;
  for (const wire::Collective collective : kCollectives) {
    for (const std::uint32_t n : {2u, 5u}) {
      const Updates updates = updates_of(n, Pattern::normal);
      Members members(*codec_, collective, updates);
      ASSERT_TRUE(members.play(7).ok());
      for (std::uint32_t b = 0; b < updates.size(); ++b) {
        const std::size_t values = updates[b][0].size();
        FloatVector sum(values);
        FloatVector left(values);
        ASSERT_TRUE(members[0].decode(b, left, sum).ok());
        std::vector<double> account(sum.begin(), sum.end());
        std::vector<double> moved(values, 0.0);
        for (std::uint32_t m = 0; m < n; ++m) {
          ASSERT_TRUE(members[m].left_over(b, left).ok());
          for (std::size_t i = 0; i < values; ++i) {
            account[i] += static_cast<double>(left[i]) - static_cast<double>(updates[b][m][i]);
            moved[i] += std::abs(static_cast<double>(left[i])) +
                        std::abs(static_cast<double>(updates[b][m][i])) +
                        std::abs(static_cast<double>(sum[i]));
          }
        }
        for (std::size_t i = 0; i < values; ++i) {
          ASSERT_NEAR(account[i], 0.0, moved[i] * 0x1p-22)
              << wire::EnumNameCollective(collective) << " of " << n << ", value " << i
              << " of bucket " << b;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, ExchangeCases, testing::ValuesIn(codec_testing::default_specs()),
                         [](const auto& family) { return family.param; });

// --- faults ------------------------------------------------------------------------------------

class ExchangeFaults : public testing::Test {
 protected:
  std::unique_ptr<Codec> codec_ = codec_of("fp32");
  Updates updates_ = updates_of(4, Pattern::normal);
  Members members_{*codec_, wire::Collective::ring, updates_};

  Bytes payload_of(std::uint32_t member, std::uint32_t bucket, const Codec& codec) const {
    const FloatVector& input = updates_[bucket][member];
    Bytes payload;
    EXPECT_TRUE(
        codec.make_encoder(static_cast<std::uint32_t>(input.size()))
            ->encode({.round = exchange_testing::context(bucket, member, 4)}, input, payload)
            .ok());
    return payload;
  }
  StatusCode receive(std::uint32_t from, const Piece& piece, Bytes payload) {
    PeerSends out;
    const Status status = members_[0].receive(from, piece, SharedSlice(std::move(payload)), out);
    EXPECT_TRUE(status.ok() || out.empty());
    return status.code();
  }
};

// In a ring of four, member 0 owns bucket 0, and its sums go through 1, 2 and 3. The sums of bucket
// 2 begin at member 3, and member 0 is next.
TEST_F(ExchangeFaults, PiecesFromNowhereAreRefused) {
  const Bytes good = payload_of(3, 2, *codec_);
  const Piece piece = {.bucket = 2, .partial = true, .origin = 3};
  Piece wrong = piece;
  wrong.bucket = 1000;
  EXPECT_EQ(receive(3, wrong, good), StatusCode::mismatch);
  wrong = piece;
  wrong.stage = 1;
  EXPECT_EQ(receive(3, wrong, good), StatusCode::mismatch);
  wrong = piece;
  wrong.origin = 4;
  EXPECT_EQ(receive(3, wrong, good), StatusCode::mismatch);
  EXPECT_EQ(receive(3, piece, {}), StatusCode::mismatch);
  EXPECT_EQ(receive(1, piece, good), StatusCode::mismatch) << "a sum that speaks for another";
  wrong = piece;
  wrong.origin = 1;
  EXPECT_EQ(receive(1, wrong, good), StatusCode::mismatch) << "a sum against the ring's direction";
}

// The number of contributors must match the sender's subtree, even if the checksum is right.
TEST_F(ExchangeFaults, ASumHasAsManyContributorsAsItsWay) {
  Bytes two = payload_of(3, 2, *codec_);
  set_contributors(2, two);
  seal_payload({}, two);
  EXPECT_EQ(receive(3, {.bucket = 2, .partial = true, .origin = 3}, two), StatusCode::mismatch);
}

// A complete sum cannot exist before this member has sent its part.
TEST_F(ExchangeFaults, AResultWithoutThisMemberIsRefused) {
  Bytes four = payload_of(3, 3, *codec_);
  set_contributors(4, four);
  seal_payload({}, four);
  EXPECT_EQ(receive(3, {.bucket = 3, .origin = 3}, four), StatusCode::mismatch);
  EXPECT_EQ(receive(3, {.bucket = 2, .origin = 3}, four), StatusCode::mismatch) << "not the owner";
}

TEST_F(ExchangeFaults, BrokenPayloadsAreRefusedWhereTheyAreAdded) {
  Bytes flipped = payload_of(3, 2, *codec_);
  flipped.back() ^= 1;
  ASSERT_EQ(receive(3, {.bucket = 2, .partial = true, .origin = 3}, flipped), StatusCode::ok);
  PeerSends out;
  EXPECT_EQ(members_[0].begin(2, out).code(), StatusCode::corrupt_data);
  EXPECT_TRUE(out.empty());
}

TEST_F(ExchangeFaults, RepeatedPiecesCountOnce) {
  const Bytes good = payload_of(3, 2, *codec_);
  const Piece piece = {.bucket = 2, .partial = true, .origin = 3};
  EXPECT_EQ(receive(3, piece, good), StatusCode::ok);
  EXPECT_EQ(receive(3, piece, good), StatusCode::ok);
  PeerSends out;
  ASSERT_TRUE(members_[0].begin(2, out).ok());
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].to, 1u);
  EXPECT_EQ(contributors_stated(out[0].payload.view()), 2u);
  EXPECT_EQ(receive(3, piece, good), StatusCode::ok);
}

TEST_F(ExchangeFaults, NamesTheMembersItWaitsFor) {
  PeerSends out;
  for (std::uint32_t b = 0; b < updates_.size(); ++b) ASSERT_TRUE(members_[0].begin(b, out).ok());
  EXPECT_EQ(members_[0].waiting_for(), (std::vector<std::uint32_t>{3}));
  EXPECT_EQ(members_[0].buckets_open(), updates_.size());
}

// Two members that both act as root of a broadcast are an error.
TEST(Exchange, TwoRootsAreOneTooMany) {
  const auto codec = codec_of("star_topk");
  const Updates updates = updates_of(3, Pattern::normal);
  Members members(*codec, wire::Collective::tree, updates);
  for (std::uint32_t m = 0; m < 3; ++m) ASSERT_TRUE(members.begin(m, 0).ok());
  // Round 3 of three members: the root is member 0, and its indices are on their way to the others.
  const auto encoder = codec->make_encoder(static_cast<std::uint32_t>(updates[0][0].size()));
  Bytes indices;
  ASSERT_TRUE(
      encoder->encode({.round = exchange_testing::context(0, 0, 3)}, updates[0][0], indices).ok());
  ASSERT_FALSE(indices.empty());
  PeerSends out;
  const Status status =
      members[0].receive(1, {.bucket = 0, .origin = 1}, SharedSlice(indices), out);
  EXPECT_EQ(status.code(), StatusCode::mismatch) << status.text();
}

// Each member but the owner sends a bucket once up and receives it once down.
TEST(Exchange, SendsTheLeastThatThereIs) {
  const auto codec = codec_of("fp32");
  for (const std::uint32_t n : {2u, 3u, 7u, 8u}) {
    const Updates updates = updates_of(n, Pattern::normal);
    std::uint64_t once = 0;
    for (const auto& bucket : updates) {
      Bytes payload;
      ASSERT_TRUE(codec->make_encoder(static_cast<std::uint32_t>(bucket[0].size()))
                      ->encode({}, bucket[0], payload)
                      .ok());
      once += payload.size();
    }
    for (const wire::Collective collective : kCollectives) {
      Members members(*codec, collective, updates);
      ASSERT_TRUE(members.play(1).ok());
      const bool all = collective == wire::Collective::all_gather;
      EXPECT_EQ(members.bytes(), once * (n - 1) * (all ? n : 2))
          << wire::EnumNameCollective(collective) << " of " << n;
    }
  }
}

}  // namespace
}  // namespace tributary
