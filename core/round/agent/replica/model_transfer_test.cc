// Tests of the transfer of a whole model to an agent: offers, parts over several sessions, and a
// download that is restored from the journal.
#include "core/round/agent/replica/model_transfer.h"

#include "core/base/bytes/checksum.h"
#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::AgentParts;
using round_testing::all;
using round_testing::kSmallValues;
using round_testing::notes;
using round_testing::Packed;

// An agent to which the coordinator offers the model of version 6, whose values are all 3.
class SomeCatchUp : public testing::Test {
 protected:
  void SetUp() override {
    agent_.have_model();
    agent_.open_session();
  }
  wire::TransferOfferT offer() const {
    wire::TransferOfferT made;
    made.transfer = 9;
    made.job = 1;
    made.content = wire::Content::model;
    made.model_version = 6;
    made.model_hash = model_hash_of(*model_);
    made.layer_map_hash = agent_.replica.job()->layer_map_hash();
    made.bytes = bytes().size();
    made.hash = hash64(bytes());
    return made;
  }
  ByteSpan bytes() const { return bytes_of(std::span<const float>(*model_)); }
  bool receive(const wire::TransferOfferT& offer, std::uint64_t message_id) {
    return transfer_.receive(*Packed(offer), message_id);
  }
  bool receive(std::uint64_t offset, std::size_t size) {
    wire::TransferPartT part;
    part.transfer = 9;
    part.offset = offset;
    return transfer_.receive(*Packed(part), bytes().subspan(offset, size));
  }

  AgentParts agent_;
  ModelTransfer transfer_{agent_.context, agent_.session, agent_.replica};
  const std::shared_ptr<FloatVector> model_ = all(3);
};

TEST_F(SomeCatchUp, AsksOnceForATransferInEachSession) {
  transfer_.request(wire::TransferReason::lost);
  transfer_.request(wire::TransferReason::behind);
  const auto requests = agent_.sent<wire::TransferRequestT>();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].reason, wire::TransferReason::lost);
  EXPECT_TRUE(transfer_.requested());
  agent_.session.close();
  transfer_.session_lost();
  transfer_.request(wire::TransferReason::lost);
  EXPECT_FALSE(transfer_.requested()) << "no session is open";
}

TEST_F(SomeCatchUp, CollectsADownloadOverSessions) {
  EXPECT_FALSE(receive(offer(), 1));
  EXPECT_TRUE(transfer_.transferring());
  EXPECT_FALSE(receive(0, 12));
  transfer_.session_lost();
  EXPECT_FALSE(transfer_.transferring());
  EXPECT_FALSE(receive(12, 4)) << "no session sends it";
  wire::HoldingT holding;
  transfer_.describe(holding);
  EXPECT_EQ(holding.download_bytes, 12u);
  wire::TransferOfferT rest = offer();
  rest.from = 12;
  EXPECT_FALSE(receive(rest, 2));
  EXPECT_TRUE(receive(12, bytes().size() - 12));
  const auto download = transfer_.release();
  EXPECT_EQ(download->message_id(), 2u);
  const Result<Replica::Downloaded> read = agent_.replica.read(*download);
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(*read->model, *model_);
  EXPECT_EQ(read->id.version, 6u);
}

TEST_F(SomeCatchUp, RefusesAnOfferThatDoesNotFit) {
  wire::TransferOfferT larger = offer();
  larger.bytes += 1;
  EXPECT_FALSE(receive(larger, 1));
  EXPECT_EQ(notes(agent_.take(), "message_refused"), 1);
  EXPECT_FALSE(transfer_.transferring());
  wire::TransferOfferT rest = offer();
  rest.from = 12;
  EXPECT_FALSE(receive(rest, 2)) << "nothing of it is here";
  EXPECT_EQ(agent_.sent<wire::TransferRequestT>().size(), 1u);
}

TEST_F(SomeCatchUp, AsksForTheRestAfterSilence) {
  EXPECT_FALSE(receive(offer(), 1));
  transfer_.ask_for_rest();
  EXPECT_TRUE(agent_.sent<wire::TransferFetchT>().empty());
  agent_.context.now = transfer_.next_due_ns();
  transfer_.ask_for_rest();
  EXPECT_EQ(agent_.sent<wire::TransferFetchT>().size(), 1u);
  EXPECT_GT(transfer_.next_due_ns(), agent_.context.now);
}

TEST_F(SomeCatchUp, RestoresADownloadOfItsJobAlone) {
  StoredDownload stored{.job = 2, .hash = 1, .bytes = kSmallValues * 4, .received = Bytes(8)};
  transfer_.restore(stored);
  EXPECT_EQ(transfer_.bytes(), 0u);
  stored.job = 1;
  transfer_.restore(stored);
  EXPECT_EQ(transfer_.bytes(), kSmallValues * 4);
}

}  // namespace
}  // namespace tributary
