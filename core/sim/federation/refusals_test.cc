// Tests of messages that a coordinator refuses although their sender is a member of the current
// round.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "core/round/common/session/conversation.h"
#include "core/sim/federation/federation_testing.h"
#include "schemas/payload.h"

namespace tributary {
namespace {

using sim_testing::Federation;
using sim_testing::Options;

// Parts with wrong sizes, positions and epochs.
TEST(CoordinatorInARound, RefusesPartsThatLie) {
  Options options;
  options.policy.bucket_values_max = 128;
  options.policy.agents_min = 3;
  options.policy.quorum_fraction = 1;
  options.rounds = 3;
  Federation federation(options);
  federation.host(0).set_train_ns(200 * kNsPerMs);
  ASSERT_TRUE(federation.run([&] { return federation.coordinator().current_round().round == 1; }));
  const RoundKey round = federation.coordinator().current_round();
  const auto lie = [&](const std::function<void(wire::UpdateT&)>& change) {
    const Bytes payload(64, std::uint8_t{1});
    wire::UpdateT update;
    update.part = std::make_unique<wire::PartT>();
    update.part->id = std::make_unique<wire::RoundId>(wire_id(round));
    update.part->stage_bytes = update.part->payload_bytes = 64;
    update.part->payload_checksum = claim_for(payload).checksum;
    update.weight = 1;
    change(update);
    wire::FrameT frame = frame_with(std::move(update));
    frame.session = federation.host(0).session();
    const int before = federation.noted("frame_refused") + federation.noted("payload_late") +
                       federation.noted("payload_refused");
    const Result<Bytes> built = build_frame(frame);
    EXPECT_TRUE(built.ok()) << built.status().text();
    federation.coordinator_host().handle(FrameReceived{.peer = federation.host(0).peer(),
                                                       .frame = *built,
                                                       .payload = payload,
                                                       .authenticated_as = "agent-0"});
    return federation.noted("frame_refused") + federation.noted("payload_late") +
           federation.noted("payload_refused") - before;
  };
  EXPECT_EQ(lie([](wire::UpdateT& update) { update.agent_index = 2; }), 1) << "another's index";
  EXPECT_EQ(lie([](wire::UpdateT& update) { update.part->bucket = 400; }), 1);
  EXPECT_EQ(lie([&](wire::UpdateT& update) {
              update.part->id =
                  std::make_unique<wire::RoundId>(round.job, round.round, round.epoch + 1, 0);
            }),
            1);
  EXPECT_EQ(lie([](wire::UpdateT& update) { update.part->stage_bytes = 1u << 30; }), 1);
  EXPECT_EQ(lie([](wire::UpdateT&) {}), 1) << "a payload of noise";
  EXPECT_LT(federation.coordinator().buffered_bytes(), 1u << 20);
}

}  // namespace
}  // namespace tributary
