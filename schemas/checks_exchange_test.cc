// Tests that frames with a wrong field are refused: messages of a round and of transfers.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "schemas/limits.h"
#include "schemas/wrong_frames_testing.h"

namespace tributary::wrong_frames {
namespace {

const Wrong kExchange[] = {
    wrong<wire::UpdateT>(
        "NoPart", [](auto& m) { m.part.reset(); }, "part"),
    wrong<wire::UpdateT>(
        "NoRoundId", [](auto& m) { m.part->id.reset(); }, "part: id"),
    wrong<wire::UpdateT>(
        "SegmentBeyondSegments", [](auto& m) { m.part->segment = 2; }, "part: segment"),
    wrong<wire::UpdateT>(
        "PayloadTooLarge", [](auto& m) { m.part->payload_bytes = wire::kPayloadBytesMax + 1; },
        "part: payload_bytes", kOverCap),
    wrong<wire::UpdateT>(
        "StageTooLarge", [](auto& m) { m.part->stage_bytes = wire::kStageBytesMax + 1; },
        "part: stage_bytes", kOverCap),
    wrong<wire::UpdateT>(
        "OffsetThatOverflows", [](auto& m) { m.part->offset = ~0ull; }, "part: offset", kOverCap),
    wrong<wire::UpdateT>(
        "EndBeyondStage", [](auto& m) { m.part->offset = 9; }, "part: end of the part", kOverCap),
    wrong<wire::UpdateT>(
        "EmptyPart", [](auto& m) { m.part->payload_bytes = 0; }, "part: payload_bytes"),
    wrong<wire::UpdateT>(
        "NoWeight", [](auto& m) { m.weight = 0; }, "weight"),
    wrong<wire::UpdateT>(
        "NoContributor", [](auto& m) { m.contributors = 0; }, "contributors"),
    wrong<wire::UpdateT>(
        "BitsOfOtherNumber", [](auto& m) { m.contributor_bits = {1}; }, "contributor_bits"),
    wrong<wire::PreliminaryT>(
        "SenderBeyondMembers", [](auto& m) { m.agent_index = wire::kMembersMax; }, "agent_index"),
    wrong<wire::AggregateT>(
        "OwnerBelowMinusOne", [](auto& m) { m.agent_index = -2; }, "agent_index"),
    wrong<wire::ReceiptT>(
        "ReceivedBeyondAnyStage", [](auto& m) { m.received_bytes = ~0ull; }, "received_bytes",
        kOverCap),
    wrong<wire::ReportT>(
        "GainsWithoutRatios", [](auto& m) { m.gain->ratios.pop_back(); }, "gain.gains"),
    wrong<wire::ReportT>(
        "NegativeTime", [](auto& m) { m.wait_s = -1; }, "wait_s"),
    wrong<wire::ReportT>(
        "TrialOfNoCodec", [](auto& m) { m.trials[1]->codec.clear(); }, "trials[1]: codec"),
    wrong<wire::ReportT>(
        "TrialThatGainsMoreThanAll", [](auto& m) { m.trials[0]->gain = 1.01; }, "trials[0]: gain"),
    wrong<wire::ReportT>(
        "TrialOfNoValues", [](auto& m) { m.trials[0]->values = 0; }, "trials[0]: values"),
    wrong<wire::ReportT>(
        "TrialInNegativeTime", [](auto& m) { m.trials[0]->decode_s = -1; }, "trials[0]: decode_s"),
    wrong<wire::ReportT>(
        "TallyOfNothing", [](auto& m) { m.mechanisms->buckets_by_codec[1]->of.clear(); },
        "mechanisms: buckets_by_codec[1]: of"),
    wrong<wire::ReportT>(
        "BitsBelowNone", [](auto& m) { m.mechanisms->mantissa_bits_dropped = -1; },
        "mechanisms: mantissa_bits_dropped"),
    wrong<wire::CommitT>(
        "NoRounds", [](auto& m) { m.rounds.clear(); }, "rounds"),
    wrong<wire::CommitT>(
        "RoundsOutOfOrder", [](auto& m) { m.rounds[0]->round = 5; }, "rounds[0]: round"),
    wrong<wire::CommitT>(
        "OtherVersion", [](auto& m) { m.model_version = 6; }, "model_version"),
    wrong<wire::CommitT>(
        "BitmapOfOtherSize", [](auto& m) { m.agents = 9; }, "contributor_sets[0]: bits"),
    wrong<wire::CommitT>(
        "BitBeyondAgents", [](auto& m) { m.rounds[1]->contributor_sets[1]->bits = {6}; },
        "rounds[1]: contributor_sets[1]: bits"),
    wrong<wire::CommitT>(
        "CountOfOtherBits", [](auto& m) { m.rounds[0]->contributor_sets[0]->contributors = 1; },
        "bits set"),
    wrong<wire::CommitT>(
        "DivisorZero", [](auto& m) { m.rounds[0]->contributor_sets[0]->divisor = 0; }, "divisor"),
    wrong<wire::CommitT>(
        "NoSuchSet", [](auto& m) { m.rounds[0]->outcomes[0]->contributor_set = 2; },
        "outcomes[0]: contributor_set"),
    wrong<wire::ReportT>(
        "CombinationAbovePrime", [](auto& m) { m.sums_check->got = ~std::uint64_t{0}; },
        "sums_check: got"),
    wrong<wire::PlanT>(
        "SumsWithoutEpoch", [](auto& m) { m.exchanges[1]->sums->epoch = 0; }, "sums: epoch"),
    wrong<wire::PlanT>(
        "SumsOfTooMany", [](auto& m) { m.exchanges[1]->sums->agents = 65; }, "sums: agents"),
    wrong<wire::PlanT>(
        "SumsInPacketsTooLarge", [](auto& m) { m.exchanges[1]->sums->packet_values = 1088; },
        "sums: packet_values", kOverCap),
    wrong<wire::PlanT>(
        "SumsWithoutAggregator", [](auto& m) { m.exchanges[0]->aggregator.clear(); },
        "exchanges[0]: aggregator"),
    wrong<wire::InstallEpochT>(
        "PacketsOfPartOfAUnitInstalled",
        [](auto& m) {
          m.remove = false;
          m.packet_values = 96;
        },
        "packet_values"),
    wrong<wire::InstallEpochT>(
        "NoEpoch",
        [](auto& m) {
          m.remove = false;
          m.epoch = 0;
        },
        "epoch"),
    wrong<wire::InstallEpochT>(
        "SumTooWide",
        [](auto& m) {
          m.remove = false;
          m.granularity = 40'000;
        },
        "granularity"),
    wrong<wire::InstallEpochT>(
        "PlaceAboveGranularity",
        [](auto& m) {
          m.remove = false;
          m.places[3] = 100;
        },
        "places", kOverCap),
    wrong<wire::InstallEpochT>(
        "PlaceMissing",
        [](auto& m) {
          m.remove = false;
          m.places.pop_back();
        },
        "places"),
    wrong<wire::InstallEpochT>(
        "SourceMissing",
        [](auto& m) {
          m.remove = false;
          m.sources.pop_back();
        },
        "sources"),
    wrong<wire::EpochInstalledT>(
        "RefusedWithoutReason",
        [](auto& m) {
          m.installed = false;
          m.text.clear();
        },
        "text"),
    wrong<wire::AppliedT>(
        "OtherVersion", [](auto& m) { m.model_version = 4; }, "model_version"),
    wrong<wire::AbortT>(
        "NoReason", [](auto& m) { m.reason = {}; }, "reason"),
    wrong<wire::AbortT>(
        "FirstAfterLast", [](auto& m) { m.first_round = 6; }, "first_round"),
};

const Wrong kTransfer[] = {
    wrong<wire::TransferRequestT>(
        "NoContent", [](auto& m) { m.content = {}; }, "content"),
    wrong<wire::TransferOfferT>(
        "BeginsBehindItsEnd", [](auto& m) { m.from = 25; }, "from", kOverCap),
    wrong<wire::TransferOfferT>(
        "NoPartSize", [](auto& m) { m.part_bytes = 0; }, "part_bytes"),
    wrong<wire::TransferOfferT>(
        "TooLarge", [](auto& m) { m.bytes = ~0ull; }, "bytes", kOverCap),
    wrong<wire::TransferOfferT>(
        "SettlementOfOtherSize", [](auto& m) { m.settled[0]->contributed_bits.clear(); },
        "settled[0]: contributed_bits"),
    wrong<wire::TransferFetchT>(
        "FromBeyondAnyModel", [](auto& m) { m.from = ~0ull; }, "from", kOverCap),
    wrong<wire::TransferPartT>(
        "OffsetBeyondAnyModel", [](auto& m) { m.offset = ~0ull; }, "offset", kOverCap),
    wrong<wire::TransferPartT>(
        "Empty", [](auto& m) { m.payload_bytes = 0; }, "payload_bytes"),
};

INSTANTIATE_TEST_SUITE_P(Exchange, Checks, ::testing::ValuesIn(kExchange), case_name);
INSTANTIATE_TEST_SUITE_P(Transfer, Checks, ::testing::ValuesIn(kTransfer), case_name);

}  // namespace
}  // namespace tributary::wrong_frames
