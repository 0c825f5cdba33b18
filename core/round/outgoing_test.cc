#include "core/round/outgoing.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tributary {
namespace {

constexpr TimeNs kAgainNs = 100;
constexpr std::uint32_t kPartBytes = 1000;

class OneOutgoing : public testing::Test {
 protected:
  void add(std::uint32_t bucket, std::size_t bytes) {
    outgoing_.add(bucket, 0, CutPayload(std::make_shared<const Bytes>(bytes), kPartBytes));
  }
  // What goes out at this time: bucket and part; a part of -1 is an announcement.
  std::vector<std::pair<std::uint32_t, int>> pump(TimeNs now) {
    std::vector<std::pair<std::uint32_t, int>> said;
    outgoing_.pump(
        now, kAgainNs,
        [&](std::uint32_t bucket, std::uint32_t, const CutPayload&, std::uint32_t part) {
          said.emplace_back(bucket, static_cast<int>(part));
        },
        [&](std::uint32_t bucket, std::uint32_t, const CutPayload&) {
          said.emplace_back(bucket, -1);
        });
    return said;
  }
  void receipt(TimeNs now, std::uint32_t bucket, std::uint32_t received, std::uint32_t window,
               std::vector<wire::Range> missing = {}) {
    wire::ReceiptT receipt;
    receipt.id = std::make_unique<wire::RoundId>(1, 1, 1, 0);
    receipt.bucket = bucket;
    receipt.parts_received = received;
    receipt.payloads_in_flight_max = window;
    receipt.missing = std::move(missing);
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(wire::Receipt::Pack(builder, &receipt));
    outgoing_.receipt(now, kAgainNs,
                      *flatbuffers::GetRoot<wire::Receipt>(builder.GetBufferPointer()));
  }

  Outgoing outgoing_;
};

using Said = std::vector<std::pair<std::uint32_t, int>>;

TEST_F(OneOutgoing, BeginsWithAsManyPartsAsThePlanAllows) {
  outgoing_.begin(3);
  add(0, 5000);
  EXPECT_EQ(pump(0), (Said{{0, 0}, {0, 1}, {0, 2}}));
  EXPECT_EQ(pump(1), Said{});
  receipt(2, 0, 2, 3);
  EXPECT_EQ(pump(2), (Said{{0, 3}, {0, 4}}));
  receipt(3, 0, 5, 3);
  EXPECT_TRUE(outgoing_.empty());
}

TEST_F(OneOutgoing, WaitsToBeCalledAndSaysSo) {
  outgoing_.begin(0);
  add(0, 9000);
  EXPECT_EQ(pump(0), (Said{{0, -1}}));
  EXPECT_EQ(pump(1), Said{}) << "once is enough";
  EXPECT_EQ(outgoing_.next_due_ns(), kAgainNs);
  EXPECT_EQ(pump(kAgainNs), (Said{{0, -1}})) << "until somebody hears it";
  receipt(kAgainNs + 1, 0, 0, 4, {wire::Range(0, 1)});
  EXPECT_EQ(pump(kAgainNs + 1), (Said{{0, 0}, {0, 1}, {0, 2}, {0, 3}}));
  receipt(kAgainNs + 2, 0, 4, 4);
  EXPECT_EQ(pump(kAgainNs + 2), (Said{{0, 4}, {0, 5}, {0, 6}, {0, 7}}));
}

TEST_F(OneOutgoing, WhatIsAsSmallAsTheQuestionIsNotAsked) {
  outgoing_.begin(0);
  add(0, Outgoing::kUncalledBytesMax + 1);
  add(1, 500);
  EXPECT_EQ(pump(0), (Said{{0, -1}, {1, 0}}));
}

TEST_F(OneOutgoing, SaysItAgainInANewSession) {
  outgoing_.begin(0);
  add(0, 9000);
  add(1, 500);
  EXPECT_EQ(pump(0).size(), 2u);
  outgoing_.reconnected(4);
  EXPECT_EQ(pump(1), (Said{{0, -1}}));
}

TEST_F(OneOutgoing, WithoutRoomItWaitsAndBeginsAnew) {
  outgoing_.begin(2);
  add(0, 9000);
  EXPECT_EQ(pump(0), (Said{{0, 0}, {0, 1}}));
  receipt(1, 0, 0, 0);
  EXPECT_EQ(pump(2), Said{});
  receipt(3, 0, 0, 2, {wire::Range(0, 1)});
  EXPECT_EQ(pump(3), (Said{{0, 0}, {0, 1}}));
}

}  // namespace
}  // namespace tributary
