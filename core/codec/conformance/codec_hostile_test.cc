// Untrusted payloads: every payload of every codec, cut at every byte, with every single bit
// flipped, and one byte too long. Each is tested unchanged and with a corrected checksum. Decoding
// must give an error or a valid bucket; the address sanitizer detects everything else. In a round,
// no number in a payload may make the sum of all agents overflow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <memory>

#include "core/base/bytes/damaged_testing.h"
#include "core/codec/codec_testing.h"

namespace tributary {
namespace {

using codec_testing::Pattern;
using codec_testing::Round;

constexpr std::size_t kHostileValues = 70;  // more than one block of 64, with a remainder
constexpr std::uint32_t kHostileAgents = 2;

// Gives hostile bytes to an aggregator and a decoder, and counts the refusals.
class Victim {
 public:
  Victim(const Codec& codec, Round& round, std::size_t stage)
      : codec_(codec), round_(round), stage_(stage), sum_(kHostileValues) {}

  void receive(const Bytes& bytes) {
    const Bytes exact(bytes.begin(), bytes.end());  // exact: a sanitizer sees reads past the end
    const StageCall call = round_.call(stage_);
    const auto aggregator = codec_.make_aggregator(stage_, kHostileValues);
    ASSERT_TRUE(aggregator->begin(call, {}).ok());
    Bytes combined;
    if (aggregator->add(call, exact).ok()) ignore_error(aggregator->finish(call, combined));
    judge(stage_ == round_.last() ? codec_.decode(call, exact, sum_) : decode_misled_by(exact));
  }

  int refused = 0;
  int accepted = 0;

 private:
  // Decodes the last stage with a hostile payload in place of an earlier stage's combined payload.
  Status decode_misled_by(const Bytes& earlier) {
    StageCall call = round_.call(round_.last());
    std::vector<ByteSpan> combined(call.combined.begin(), call.combined.end());
    combined[stage_] = earlier;
    call.combined = combined;
    return codec_.decode(call, round_.combined(round_.last()), sum_);
  }

  void judge(const Status& decoded) {
    if (!decoded.ok()) {
      ++refused;
      EXPECT_FALSE(decoded.fault().what.empty());
      return;
    }
    ++accepted;
    if (codec_.carries_not_finite()) return;
    EXPECT_TRUE(std::ranges::all_of(sum_, [](float x) { return std::isfinite(x); }));
  }

  const Codec& codec_;
  Round& round_;
  const std::size_t stage_;
  FloatVector sum_;
};

class HostilePayloads : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_NE(codec_ = codec_testing::codec_of(GetParam()), nullptr); }

  // Calls attack(payload, victim) for one agent's payload and for the combined payload of every
  // stage.
  template <typename Attack>
  void for_every_payload(const Attack& attack) {
    for (const Pattern pattern : {Pattern::normal, Pattern::zeros, Pattern::extremes}) {
      Round round(*codec_, codec_testing::updates(pattern, kHostileValues, kHostileAgents),
                  kHostileAgents);
      for (std::size_t stage = 0; stage <= round.last(); ++stage) {
        Victim victim(*codec_, round, stage);
        for (std::size_t agent = 0; agent < kHostileAgents; ++agent) {
          if (round.payload(stage, agent).empty()) continue;
          attack(round.payload(stage, agent), victim);
        }
        attack(round.combined(stage), victim);
        EXPECT_GT(victim.refused, 0);
      }
    }
  }

  std::unique_ptr<Codec> codec_;
};

// With `reseal`, the header states the new size and the checksum is correct, so only the codec's
// own checks remain.
void cut(const Bytes& good, bool reseal, Victim& victim) {
  const Result<OpenPayload> open = open_payload({}, good);
  ASSERT_TRUE(open.ok()) << open.status().text();
  const std::size_t prefix = good.size() - open->body.size();
  for_each_cut(good, [&](Bytes bytes) {
    if (reseal) {
      if (bytes.size() < prefix) return;
      shrink_body(bytes.size() - prefix, bytes);
      seal_payload({}, bytes);
    }
    victim.receive(bytes);
  });
  if (!reseal) return;
  Bytes longer = good;  // an empty body cannot be cut, but no body may be longer either
  longer.push_back(0);
  shrink_body(longer.size() - prefix, longer);
  seal_payload({}, longer);
  victim.receive(longer);
}

// Flips every bit in turn, including the header's.
void flip(const Bytes& good, bool reseal, Victim& victim) {
  for_each_flipped_bit(good, [&](Bytes bytes) {
    if (reseal) seal_payload({}, bytes);
    victim.receive(bytes);
  });
}

TEST_P(HostilePayloads, CutAtEveryByte) {
  for_every_payload([](const Bytes& good, Victim& victim) {
    const int accepted = victim.accepted;
    cut(good, false, victim);
    EXPECT_EQ(victim.accepted, accepted) << "a cut payload was taken for a whole one";
  });
}

TEST_P(HostilePayloads, EveryBitFlipped) {
  for_every_payload([](const Bytes& good, Victim& victim) {
    const int accepted = victim.accepted;
    flip(good, false, victim);
    EXPECT_EQ(victim.accepted, accepted) << "the checksum missed a flipped bit";
  });
}

TEST_P(HostilePayloads, CutWithAChecksumThatFits) {
  for_every_payload([](const Bytes& good, Victim& victim) { cut(good, true, victim); });
}

TEST_P(HostilePayloads, EveryBitFlippedUnderAChecksumThatFits) {
  for_every_payload([](const Bytes& good, Victim& victim) { flip(good, true, victim); });
}

// Adds the payloads of one stage as a round does, and decodes the result.
class SumOfRound {
 public:
  SumOfRound(const Codec& codec, Round& round, std::size_t stage)
      : codec_(codec),
        call_(round.call(stage)),
        aggregator_(codec.make_aggregator(stage, kHostileValues)) {
    call_.finite_only = true;
    EXPECT_TRUE(aggregator_->begin(call_, {}).ok());
  }

  Status add(const Bytes& payload) { return aggregator_->add(call_, payload); }
  // Returns the largest magnitude of the decoded sum.
  Result<float> largest(bool last) {
    Bytes combined;
    TRIBUTARY_TRY(aggregator_->finish(call_, combined));
    if (!last) return 0.0f;
    FloatVector sum(kHostileValues);
    TRIBUTARY_TRY(codec_.decode(call_, combined, sum));
    float largest = 0;
    for (const float x : sum) largest = std::isfinite(x) ? std::max(largest, std::abs(x)) : x;
    return largest;
  }

 private:
  const Codec& codec_;
  StageCall call_;
  const std::unique_ptr<Aggregator> aggregator_;
};

// Calls `visit` with the payload, in which each word of the body in turn is the value.
template <typename Visit>
void with_each_word(const Bytes& good, float value, const Visit& visit) {
  if (good.empty()) return;
  const Result<OpenPayload> open = open_payload({}, good);
  ASSERT_TRUE(open.ok()) << open.status().text();
  const std::size_t prefix = good.size() - open->body.size();
  for (std::size_t at = prefix; at + sizeof(value) <= good.size(); at += sizeof(value)) {
    Bytes bytes = good;
    std::memcpy(bytes.data() + at, &value, sizeof(value));
    seal_payload({}, bytes);
    visit(bytes);
  }
}

// If every agent sends the same number in the same place, the sum stays within half the range of
// float32, or the payload is refused.
TEST_P(HostilePayloads, NoNumberMakesTheSumOfARoundOverflow) {
  Round round(*codec_, codec_testing::updates(Pattern::normal, kHostileValues, kHostileAgents),
              kHostileAgents);
  for (std::size_t stage = 0; stage <= round.last(); ++stage) {
    for (const float value : {NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, 3e38f}) {
      with_each_word(round.payload(stage, 0), value, [&](const Bytes& payload) {
        SumOfRound sum(*codec_, round, stage);
        bool added = true;
        for (std::uint32_t agent = 0; agent < kHostileAgents; ++agent) {
          added &= sum.add(payload).ok();
        }
        if (!added) return;
        const Result<float> largest = sum.largest(stage == round.last());
        ASSERT_TRUE(largest.ok()) << value << " in stage " << stage << ": "
                                  << largest.status().text();
        EXPECT_LE(*largest, FLT_MAX / 2) << value << " in stage " << stage;
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Defaults, HostilePayloads,
                         testing::ValuesIn(codec_testing::default_specs()),
                         codec_testing::test_name);
// Blocks of several widths, and some that are not sent.
INSTANTIATE_TEST_SUITE_P(SharedRate, HostilePayloads, testing::Values("thc:rate=1.5,block=64"),
                         codec_testing::test_name);
INSTANTIATE_TEST_SUITE_P(SlowOthers, HostilePayloads,
                         testing::ValuesIn(codec_testing::other_specs()), codec_testing::test_name);

}  // namespace
}  // namespace tributary
