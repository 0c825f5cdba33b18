// Tests that frames with a wrong field are refused: fields of any message, sessions, jobs and
// plans.
#include "schemas/checks.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "schemas/checks_testing.h"
#include "schemas/frame.h"
#include "schemas/limits.h"
#include "schemas/wrong_frames_testing.h"

namespace tributary::wrong_frames {
namespace {

using ::testing::HasSubstr;

TEST_P(Checks, RefuseAndSayWhy) {
  FrameT frame = filled_message(GetParam().kind);
  ASSERT_TRUE(build_frame(frame).ok()) << build_frame(frame).status().text();
  GetParam().spoil(frame);
  const Status status = build_frame(frame).status();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), GetParam().code) << status.text();
  EXPECT_THAT(status.fault().what, HasSubstr(GetParam().named));
  EXPECT_FALSE(status.fault().expected.empty());
  EXPECT_FALSE(status.fault().got.empty());
  EXPECT_FALSE(status.fault().remedy.empty());
}

const Wrong kAnyField[] = {
    wrong_envelope(
        "NoSession", wire::Message::Plan, [](FrameT& f) { f.session = 0; }, "Plan: session"),
    wrong_envelope(
        "NoMessageId", wire::Message::Commit, [](FrameT& f) { f.message_id = 0; },
        "Commit: message_id"),
    wrong_envelope(
        "AnswersNothing", wire::Message::Ack, [](FrameT& f) { f.in_reply_to = 0; },
        "Ack: in_reply_to"),
    wrong<wire::ReportT>(
        "NotANumber", [](auto& m) { m.loss = kNan; }, "Report.loss", StatusCode::not_finite),
    wrong<wire::PlanT>(
        "InfiniteInAList", [](auto& m) { m.reason->observations[1]->measure->value = -kInf; },
        "Plan.reason.observations[1].measure.value", StatusCode::not_finite),
    wrong<wire::TelemetryT>(
        "InfiniteInAListOfNumbers", [](auto& m) { m.series[0]->values[1] = kInf; },
        "Telemetry.series[0].values[1]", StatusCode::not_finite),
    wrong<wire::LeaveT>(
        "TextTooLong", [](auto& m) { m.text = std::string(wire::kTextBytesMax + 1, 'a'); },
        "Leave.text", kOverCap),
    wrong<wire::LeaveT>(
        "TextWithEscape", [](auto& m) { m.text = "\x1b[2J"; }, "Leave.text"),
    wrong<wire::LeaveT>(
        "TextWithDelete", [](auto& m) { m.text = "a\x7f"; }, "Leave.text"),
    wrong<wire::LeaveT>(
        "TextWithZero", [](auto& m) { m.text = std::string(1, '\0'); }, "Leave.text"),
    wrong<wire::LeaveT>(
        "TextWithC1Control", [](auto& m) { m.text = "\xC2\x9B"; }, "Leave.text"),
    wrong<wire::LeaveT>(
        "TextInLatin1", [](auto& m) { m.text = "caf\xE9"; }, "Leave.text"),
    wrong<wire::LeaveT>(
        "TextOverlong", [](auto& m) { m.text = "\xE0\x80\xAF"; }, "Leave.text"),
    wrong<wire::LeaveT>(
        "TextWithSurrogate", [](auto& m) { m.text = "\xED\xA0\x80"; }, "Leave.text"),
    wrong<wire::LeaveT>(
        "TextCutInACharacter", [](auto& m) { m.text = "\xE2\x82"; }, "Leave.text"),
    wrong<wire::LeaveT>(
        "TextBeyondUnicode", [](auto& m) { m.text = "\xF4\x90\x80\x80"; }, "Leave.text"),
};

const Wrong kSession[] = {
    wrong<wire::HelloT>(
        "VersionsReversed", [](auto& m) { m.version_min = 4; }, "version_min"),
    wrong<wire::HelloT>(
        "NoVersion", [](auto& m) { m.version_min = 0; }, "version_min"),
    wrong<wire::HelloT>(
        "NoRole", [](auto& m) { m.role = wire::Role::unspecified; }, "role"),
    wrong<wire::HelloT>(
        "NoAgentId", [](auto& m) { m.agent_id.clear(); }, "agent_id"),
    wrong<wire::HelloT>(
        "AgentIdIsAPath", [](auto& m) { m.agent_id = "../etc"; }, "agent_id"),
    wrong<wire::HelloT>(
        "AgentIdTooLong", [](auto& m) { m.agent_id.assign(wire::kAgentIdBytesMax + 1, 'a'); },
        "agent_id", kOverCap),
    wrong<wire::HelloT>(
        "NoIncarnation", [](auto& m) { m.incarnation = 0; }, "incarnation"),
    wrong<wire::HelloT>(
        "NegativeSpeed", [](auto& m) { m.capabilities->codecs[1]->decode_bytes_per_s = -1; },
        "capabilities.codecs[1]: decode_bytes_per_s"),
    wrong<wire::HelloT>(
        "UndecidedRoundZero",
        [](auto& m) { m.holdings[1]->undecided[0] = wire::RoundId(1, 0, 1, 0); },
        "holdings[1]: undecided[0]: id.round"),
    wrong<wire::HelloT>(
        "PacketsOfPartOfAUnit", [](auto& m) { m.packet_values = 96; }, "packet_values"),
    wrong<wire::HelloT>(
        "PacketsTooLarge", [](auto& m) { m.packet_values = 1088; }, "packet_values", kOverCap),
    wrong<wire::HelloT>(
        "EmptyEndpoint", [](auto& m) { m.endpoints[0]->address.clear(); }, "endpoints[0]: address"),
    wrong<wire::WelcomeT>(
        "TimeoutBelowInterval", [](auto& m) { m.heartbeat_timeout_ms = 100; },
        "heartbeat_timeout_ms"),
    wrong<wire::WelcomeT>(
        "NoLimits", [](auto& m) { m.limits.reset(); }, "limits"),
    wrong<wire::WelcomeT>(
        "LimitAboveOurs", [](auto& m) { m.limits->payload_bytes_max = wire::kPayloadBytesMax + 1; },
        "payload_bytes_max"),
    wrong<wire::WelcomeT>(
        "IndexBeyondMembers", [](auto& m) { m.standings[0]->agent_index = wire::kMembersMax; },
        "standings[0]: agent_index"),
    wrong<wire::RefusalT>(
        "NoCode", [](auto& m) { m.code = {}; }, "code"),
    wrong<wire::RefusalT>(
        "NoWhat", [](auto& m) { m.what.clear(); }, "what"),
    wrong<wire::HeartbeatT>(
        "MoreThanDone", [](auto& m) { m.progress = 1.5f; }, "progress"),
    wrong<wire::LinkProbeT>(
        "IndexBeyondTrain", [](auto& m) { m.index = m.count; }, "index"),
    wrong<wire::LinkProbeT>(
        "EndlessTrain", [](auto& m) { m.count = wire::kListItemsMax + 1; }, "count"),
    wrong<wire::LinkProbeT>(
        "OrderWithoutGoal",
        [](auto& m) {
          m.kind = wire::ProbeKind::order;
          m.endpoint.clear();
        },
        "endpoint"),
    wrong<wire::LinkProbeT>(
        "PaddingTooLarge", [](auto& m) { m.payload_bytes = wire::kPayloadBytesMax + 1; },
        "payload_bytes", kOverCap),
    wrong<wire::PeerHelloT>(
        "NoEpoch", [](auto& m) { m.epoch = 0; }, "epoch"),
    wrong<wire::LeaveT>(
        "NoReason", [](auto& m) { m.reason = {}; }, "reason"),
    wrong<wire::TelemetryT>(
        "TimesWithoutValues", [](auto& m) { m.series[1]->values.pop_back(); }, "series[1]: values"),
    wrong<wire::TelemetryT>(
        "TimesNotAscending",
        [](auto& m) {
          m.series[0]->at_ns = {8, 7};
        },
        "series[0]: at_ns"),
    wrong<wire::TelemetryT>(
        "NoUnit", [](auto& m) { m.series[0]->unit = {}; }, "series[0]: unit"),
    wrong<wire::TelemetryT>(
        "EventWithoutName", [](auto& m) { m.events[1]->name.clear(); }, "events[1]: name"),
    wrong<wire::TelemetryT>(
        "NegativeLatency", [](auto& m) { m.links[0]->alpha_s = -1e-3; }, "links[0]: alpha_s"),
};

const Wrong kJob[] = {
    wrong<wire::JobT>(
        "NoJob", [](auto& m) { m.job = 0; }, "job"),
    wrong<wire::JobT>(
        "NoModel", [](auto& m) { m.model.reset(); }, "model"),
    wrong<wire::JobT>(
        "FileWithoutArtifact",
        [](auto& m) {
          m.model->kind = wire::ModelKind::torchscript;
          m.model->artifact.reset();
        },
        "model: artifact"),
    wrong<wire::JobT>(
        "FileOfAnotherSize", [](auto& m) { m.model->artifact->content.resize(23); },
        "model: artifact.content"),
    wrong<wire::JobT>(
        "FileTooLargeToTravel",
        [](auto& m) {
          m.model->artifact->content.resize(wire::kArtifactContentMax + 1);
          m.model->artifact->bytes = wire::kArtifactContentMax + 1;
        },
        "model: artifact.content", kOverCap),
    wrong<wire::JobT>(
        "NoLayerMap", [](auto& m) { m.layer_map.reset(); }, "layer_map"),
    wrong<wire::JobT>(
        "ShapeOfOtherSize",
        [](auto& m) {
          m.layer_map->layers[1]->shape = {2, 2};
        },
        "layer_map: layers[1]: values"),
    wrong<wire::JobT>(
        "ShapeThatOverflows",
        [](auto& m) {
          m.layer_map->layers[0]->shape = {1ull << 33, 1ull << 33};
        },
        "layers[0]: shape", kOverCap),
    wrong<wire::JobT>(
        "TooManyDimensions",
        [](auto& m) { m.layer_map->layers[0]->shape.assign(wire::kDimensionsMax + 1, 1); },
        "layers[0]: shape", kOverCap),
    wrong<wire::JobT>(
        "LayersTooLargeTogether",
        [](auto& m) {
          for (auto& layer : m.layer_map->layers) {
            layer->shape = {wire::kModelValuesMax};
            layer->values = wire::kModelValuesMax;
          }
        },
        "values of all layers", kOverCap),
    wrong<wire::JobT>(
        "NoOptimizer", [](auto& m) { m.optimizer.reset(); }, "optimizer"),
    wrong<wire::JobChangeT>(
        "NoState", [](auto& m) { m.state = {}; }, "state"),
    wrong<wire::MembershipT>(
        "IndexBeyondAgents", [](auto& m) { m.agent_index = 2; }, "agent_index"),
    wrong<wire::MembershipT>(
        "NotAllMembers", [](auto& m) { m.agents = 3; }, "members"),
    wrong<wire::MembershipT>(
        "TooManyAgents", [](auto& m) { m.agents = wire::kMembersMax + 1; }, "agents"),
    wrong<wire::MembershipT>(
        "KeyOfOtherSize", [](auto& m) { m.members[1]->public_key.pop_back(); },
        "members[1]: public_key"),
    wrong<wire::MembershipT>(
        "PeersWithoutSession", [](auto& m) { m.peer_session = 0; }, "peer_session"),
};

const Wrong kPlan[] = {
    wrong<wire::PlanT>(
        "NoId", [](auto& m) { m.id.reset(); }, "id"),
    wrong<wire::PlanT>(
        "OtherVersion", [](auto& m) { m.model_version = 5; }, "model_version"),
    wrong<wire::PlanT>(
        "BitmapTooShort", [](auto& m) { m.agents = 9; }, "participants"),
    wrong<wire::PlanT>(
        "BitBeyondAgents", [](auto& m) { m.participants = {7}; }, "participants"),
    wrong<wire::PlanT>(
        "QuorumOfMoreThanAll", [](auto& m) { m.quorum = 3; }, "quorum"),
    wrong<wire::PlanT>(
        "NoDeadline", [](auto& m) { m.deadline_ms = 0; }, "deadline_ms"),
    wrong<wire::PlanT>(
        "NoDivisor", [](auto& m) { m.divisor = {}; }, "divisor"),
    wrong<wire::PlanT>(
        "NoWeightAtAll", [](auto& m) { m.weight_sum = 0; }, "weight_sum"),
    wrong<wire::PlanT>(
        "NoExchange", [](auto& m) { m.exchanges_per_round = 0; }, "exchanges_per_round"),
    wrong<wire::PlanT>(
        "TooManyExchanges",
        [](auto& m) { m.exchanges_per_round = wire::kExchangesPerRoundMax + 1; },
        "exchanges_per_round"),
    wrong<wire::PlanT>(
        "NoStages", [](auto& m) { m.exchanges[0]->stages.clear(); }, "exchanges[0]: stages"),
    wrong<wire::PlanT>(
        "StrangerInTheRing",
        [](auto& m) {
          m.exchanges[1]->order = {0, 2};
        },
        "exchanges[1]: order"),
    wrong<wire::PlanT>(
        "StrangerAsRoot", [](auto& m) { m.exchanges[1]->root = 2; }, "exchanges[1]: root"),
    wrong<wire::PlanT>(
        "RatioAboveOne", [](auto& m) { m.exchanges[0]->ratio = 1.01; }, "exchanges[0]: ratio"),
    wrong<wire::PlanT>(
        "RatiosOfFewerThanAll", [](auto& m) { m.exchanges[0]->ratios = {0.5}; },
        "exchanges[0]: ratios"),
    wrong<wire::PlanT>(
        "NothingKept",
        [](auto& m) {
          m.exchanges[1]->ratios = {0.5, 0};
        },
        "exchanges[1]: ratios"),
    wrong<wire::PlanT>(
        "MoreThanAllKept",
        [](auto& m) {
          m.exchanges[1]->ratios = {0.5, 1.5};
        },
        "exchanges[1]: ratios"),
    wrong<wire::PlanT>(
        "PartsTooLarge",
        [](auto& m) { m.exchanges[0]->payload_bytes = wire::kPayloadBytesMax + 1; },
        "exchanges[0]: payload_bytes"),
    wrong<wire::PlanT>(
        "NoSuchExchange", [](auto& m) { m.buckets[0]->exchange = 2; }, "buckets[0]: exchange"),
    wrong<wire::PlanT>(
        "BucketsOverlap", [](auto& m) { m.buckets[1]->first_value = 7; },
        "buckets[1]: first_value"),
    wrong<wire::PlanT>(
        "BucketTooLarge", [](auto& m) { m.buckets[1]->values = wire::kBucketValuesMax + 1; },
        "buckets[1]: values", kOverCap),
    wrong<wire::PlanT>(
        "BucketInTwoGroups",
        [](auto& m) {
          m.groups = {wire::Range(0, 1), wire::Range(0, 2)};
        },
        "groups[1]: bucket"),
    wrong<wire::PlanT>(
        "BucketInNoGroup", [](auto& m) { m.groups.pop_back(); }, "buckets in groups"),
    wrong<wire::PlanT>(
        "GroupBeyondBuckets", [](auto& m) { m.groups[1] = wire::Range(1, 2); }, "groups[1]: first",
        kOverCap),
    wrong<wire::PlanT>(
        "GroupThatOverflows", [](auto& m) { m.groups[1] = wire::Range(~0u, 2); },
        "groups[1]: first", kOverCap),
    wrong<wire::PlanT>(
        "TooManyTrials", [](auto& m) { m.trials.resize(wire::kTrialsMax + 1, "fp16"); }, "trials",
        kOverCap),
    wrong<wire::PlanT>(
        "TrialsThatTakeTooLong", [](auto& m) { m.trial_s = 2 * wire::kTrialSecondsMax; },
        "trial_s"),
    wrong<wire::PlanT>(
        "ObservationOfNothing", [](auto& m) { m.reason->observations[0]->measure.reset(); },
        "reason: observations[0]: measure"),
};

INSTANTIATE_TEST_SUITE_P(AnyField, Checks, ::testing::ValuesIn(kAnyField), case_name);
INSTANTIATE_TEST_SUITE_P(Session, Checks, ::testing::ValuesIn(kSession), case_name);
INSTANTIATE_TEST_SUITE_P(Job, Checks, ::testing::ValuesIn(kJob), case_name);
INSTANTIATE_TEST_SUITE_P(Plan, Checks, ::testing::ValuesIn(kPlan), case_name);

}  // namespace
}  // namespace tributary::wrong_frames
