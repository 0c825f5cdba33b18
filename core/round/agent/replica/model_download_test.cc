// Tests of storing a download in runs, so that it continues after a restart.
#include "core/round/agent/replica/model_download.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

constexpr std::uint64_t kDownloadBytes = 1000;
constexpr TimeNs kLater = 1'000 * kNsPerMs;

// A download whose first bytes arrived long enough ago to be stored.
class SomeDownload : public testing::Test {
 protected:
  void SetUp() override {
    wire::TransferOfferT offer;
    offer.transfer = 7;
    offer.bytes = kDownloadBytes;
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(wire::TransferOffer::Pack(builder, &offer));
    download_.offered(0, 1, *flatbuffers::GetRoot<wire::TransferOffer>(builder.GetBufferPointer()));
    take(0, 300);
  }
  void take(std::uint64_t offset, std::size_t bytes) {
    wire::TransferPartT part;
    part.transfer = 7;
    part.offset = offset;
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(wire::TransferPart::Pack(builder, &part));
    EXPECT_TRUE(download_
                    .take(kLater,
                          *flatbuffers::GetRoot<wire::TransferPart>(builder.GetBufferPointer()),
                          Bytes(bytes))
                    .ok());
  }

  ModelDownload download_{11, kDownloadBytes};
};

TEST_F(SomeDownload, StoresRunsOneAfterTheOther) {
  EXPECT_FALSE(download_.next_to_store(0, 1)) << "too young";
  const auto first = download_.next_to_store(kLater, 1);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->offset, 0u);
  EXPECT_EQ(first->data->size(), 300u);
  take(300, 100);
  EXPECT_FALSE(download_.next_to_store(kLater, 1)) << "one at a time";
  download_.stored();
  const auto second = download_.next_to_store(kLater, 1);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->offset, 300u);
}

TEST_F(SomeDownload, BeginsAnewWhenAReplicaHasRemovedItsRuns) {
  ASSERT_TRUE(download_.next_to_store(kLater, 1));
  download_.forget_stored();  // while the first run is being stored
  download_.stored();
  const auto again = download_.next_to_store(kLater, 1);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->offset, 0u);
  download_.stored();
  download_.forget_stored();  // and after it was stored
  take(300, 100);
  const auto whole = download_.next_to_store(kLater, 1);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->offset, 0u);
  EXPECT_EQ(whole->data->size(), 400u);
}

}  // namespace
}  // namespace tributary
