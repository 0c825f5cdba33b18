// Tests frames that look unusual and that the checks must accept. A check that is too strict would
// end the sessions of correct peers.
#include <gtest/gtest.h>

#include "schemas/checks.h"
#include "schemas/checks_testing.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

// Hello is the one message that is sent before a session exists.
TEST(ChecksAllow, AHelloBeforeThereIsASession) {
  wire::FrameT hello = filled_message(wire::Message::Hello);
  hello.session = 0;
  EXPECT_TRUE(build_frame(hello).ok()) << build_frame(hello).status().text();
}

// A collective of a later version is well-formed. The agent refuses it as unsupported, which names
// it.
TEST(ChecksAllow, EnumValuesOfLaterVersions) {
  wire::FrameT plan = filled_message(wire::Message::Plan);
  plan.message.AsPlan()->exchanges[0]->collective = static_cast<wire::Collective>(200);
  EXPECT_TRUE(build_frame(plan).ok()) << build_frame(plan).status().text();
}

// Two, three and four bytes per character; a line break is the only control character allowed here.
TEST(ChecksAllow, TextInAnyLanguageWithLineBreaks) {
  wire::FrameT leave = filled_message(wire::Message::Leave);
  leave.message.AsLeave()->text = "zu hei\xC3\x9F\n\xE6\x9A\x91\xE3\x81\x84 \xF0\x9F\x94\xA5";
  EXPECT_TRUE(build_frame(leave).ok()) << build_frame(leave).status().text();
}

// Such an acknowledgement answers no message, so it must count at least one.
TEST(ChecksAllow, AnAckThatOnlyCountsBulk) {
  wire::FrameT ack = filled_message(wire::Message::Ack);
  ack.in_reply_to = 0;
  ack.bulk_received = 3;
  ack.bulk_number = 0;
  EXPECT_TRUE(build_frame(ack).ok()) << build_frame(ack).status().text();
  ack.bulk_received = 0;
  EXPECT_FALSE(build_frame(ack).ok());
}

// An agent that keeps nothing of a bucket still sends its part.
TEST(ChecksAllow, AnEmptyPayload) {
  wire::FrameT update = filled_message(wire::Message::Update);
  wire::PartT& part = *update.message.AsUpdate()->part;
  part.offset = part.stage_bytes = 0;
  part.payload_bytes = 0;
  EXPECT_TRUE(build_frame(update).ok()) << build_frame(update).status().text();
}

// In a star the members do not know one another; the number of agents may reach its bound.
TEST(ChecksAllow, AMembershipWithoutMembers) {
  wire::FrameT membership = filled_message(wire::Message::Membership);
  wire::MembershipT& star = *membership.message.AsMembership();
  star.members.clear();
  star.peer_session = 0;
  star.agents = wire::kMembersMax;
  EXPECT_TRUE(build_frame(membership).ok()) << build_frame(membership).status().text();
}

}  // namespace
}  // namespace tributary
