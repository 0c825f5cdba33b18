// Tests of the aggregators that do not add: gathering all payloads, and passing on the single
// payload of a broadcast.
#include "core/codec/aggregate/gather.h"

#include <gtest/gtest.h>

#include <string>

#include "core/codec/codec_testing.h"

namespace tributary {
namespace {

// The aggregators under test use only the codec's spec, so any codec serves.
class AnyCodec : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(codec_ = codec_testing::codec_of("fp32"), nullptr); }

  Bytes payload_of(std::uint32_t contributors, const Bytes& body) const {
    Bytes payload;
    const MutableByteSpan out = start_payload(
        {.spec = codec_->spec(), .contributors = contributors, .values = 9}, body.size(), payload);
    if (!body.empty()) std::memcpy(out.data(), body.data(), body.size());
    seal_payload({}, payload);
    return payload;
  }
  // A payload with one entry.
  Bytes text_payload(std::uint32_t agent, const std::string& text) const {
    Bytes body(gather_bytes(text.size()));
    write_gather_entry({agent, bytes_of(std::string_view(text))}, body);
    return payload_of(1, body);
  }
  // The entries of a payload, each as the agent's index followed by its text.
  std::vector<std::string> texts(const Bytes& payload) const {
    const auto open = open_payload({}, payload);
    EXPECT_TRUE(open.ok());
    const auto entries = read_gather_entries(*open, 100, 100);
    EXPECT_TRUE(entries.ok()) << entries.status().text();
    std::vector<std::string> out;
    for (const GatherEntry& entry : *entries) {
      out.push_back(std::to_string(entry.agent) +
                    std::string(entry.payload.begin(), entry.payload.end()));
    }
    return out;
  }
  std::unique_ptr<Aggregator> gatherer(std::uint32_t agents) {
    // Entries have at most 5 bytes.
    auto aggregator = make_gather_aggregator(*codec_, 0, 9, 5);
    call_.round.agents = agents;
    EXPECT_TRUE(aggregator->begin(call_, {}).ok());
    return aggregator;
  }

  std::unique_ptr<Codec> codec_;
  StageCall call_ = {.round = {}};
};

using Gather = AnyCodec;
using Broadcast = AnyCodec;

// Agents arrive out of order, and two of them in a partial gather. The result must be sorted.
TEST_F(Gather, HoldsThePayloadsInTheOrderOfAgents) {
  const auto left = gatherer(5);
  const auto right = gatherer(5);
  ASSERT_TRUE(left->add(call_, text_payload(3, "three")).ok());
  ASSERT_TRUE(left->add(call_, text_payload(0, "")).ok());
  ASSERT_TRUE(right->add(call_, text_payload(4, "four")).ok());
  ASSERT_TRUE(right->add(call_, text_payload(1, "one")).ok());
  Bytes partial;
  ASSERT_TRUE(right->finish(call_, partial).ok());
  ASSERT_TRUE(left->add(call_, partial).ok());
  EXPECT_EQ(left->contributors(), 4u);
  Bytes combined;
  ASSERT_TRUE(left->finish(call_, combined).ok());
  EXPECT_EQ(texts(combined), (std::vector<std::string>{"0", "1one", "3three", "4four"}));
}

TEST_F(Gather, RefusesForeignPayloads) {
  const auto aggregator = gatherer(2);
  ASSERT_TRUE(aggregator->add(call_, text_payload(1, "first")).ok());
  EXPECT_EQ(aggregator->add(call_, text_payload(1, "again")).code(), StatusCode::already_exists);
  EXPECT_EQ(aggregator->add(call_, text_payload(2, "who")).code(), StatusCode::corrupt_data);
  EXPECT_EQ(aggregator->add(call_, text_payload(0, "longer")).code(), StatusCode::corrupt_data);
  // Two entries of the same agent in one payload.
  Bytes twice(2 * gather_bytes(0));
  write_gather_entry({0, {}}, write_gather_entry({0, {}}, twice));
  EXPECT_EQ(aggregator->add(call_, payload_of(1, twice)).code(), StatusCode::corrupt_data);
  EXPECT_EQ(aggregator->add(call_, payload_of(1, {})).code(), StatusCode::corrupt_data);
  EXPECT_EQ(aggregator->add(call_, payload_of(1, {0, 0, 0})).code(), StatusCode::corrupt_data);
  EXPECT_EQ(aggregator->add(call_, payload_of(2, twice)).code(), StatusCode::resource_exhausted);
  EXPECT_EQ(aggregator->contributors(), 1u);
  Bytes combined;
  ASSERT_TRUE(aggregator->finish(call_, combined).ok());
  EXPECT_EQ(combined, text_payload(1, "first"));
  EXPECT_EQ(aggregator->add(call_, text_payload(0, "late")).code(), StatusCode::resource_exhausted);
}

TEST_F(Broadcast, LetsOneCheckedPayloadThrough) {
  const auto aggregator = make_broadcast_aggregator(*codec_, 0, 9, [](const OpenPayload& payload) {
    if (payload.body.size() == 3) return Status();
    return wrong_body_size("test", 3, payload.body.size());
  });
  EXPECT_FALSE(aggregator->add(call_, payload_of(1, {1, 2, 3})).ok()) << "before begin";
  // The second round shows that begin() clears the first one.
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(aggregator->begin(call_, {}).ok());
    EXPECT_EQ(aggregator->contributors(), 0u);
    EXPECT_EQ(aggregator->add(call_, payload_of(1, {1, 2})).code(), StatusCode::corrupt_data);
    EXPECT_EQ(aggregator->add(call_, payload_of(2, {1, 2, 3})).code(), StatusCode::corrupt_data);
    Bytes combined;
    EXPECT_EQ(aggregator->finish(call_, combined).code(), StatusCode::unavailable);
    const Bytes good = payload_of(1, {1, 2, 3});
    ASSERT_TRUE(aggregator->add(call_, good).ok());
    EXPECT_EQ(aggregator->add(call_, good).code(), StatusCode::resource_exhausted);
    ASSERT_TRUE(aggregator->finish(call_, combined).ok());
    EXPECT_EQ(combined, good);
    EXPECT_EQ(aggregator->contributors(), 1u);
  }
}

}  // namespace
}  // namespace tributary
