// Tests of the session of an agent as its other parts see it: messages without an open session are
// dropped, and answers belong to the session of their message.
#include "core/round/agent/context/client_session.h"

#include "core/round/agent/context/context_parts_testing.h"

namespace tributary {
namespace {

using round_testing::ContextParts;
using round_testing::kSession;
using round_testing::notes;

wire::FrameT some_request() {
  wire::LeaveT leave;
  leave.reason = wire::LeaveReason::shutdown;
  return frame_with(std::move(leave));
}

TEST(ClientSession, DropsMessagesWhileNoneIsOpen) {
  ContextParts agent;
  agent.session.ask(some_request);
  agent.session.answer(1);
  EXPECT_TRUE(agent.take().empty());
  EXPECT_TRUE(agent.session.idle());
  agent.open_session();
  agent.session.ask(some_request);
  EXPECT_FALSE(agent.session.idle()) << "an answer is still to come";
  EXPECT_EQ(agent.sent<wire::LeaveT>().size(), 1u);
  agent.session.close();
  EXPECT_TRUE(agent.session.idle());
}

TEST(ClientSession, AnswersOnlyInTheSessionOfTheMessage) {
  ContextParts agent;
  agent.open_session(kSession + 1);
  agent.session.answer_in(kSession, 1);
  EXPECT_TRUE(agent.sent<wire::AckT>().empty());
  agent.session.answer_in(kSession + 1, 1);
  EXPECT_EQ(agent.sent<wire::AckT>().size(), 1u);
  agent.session.answer(0);
  EXPECT_TRUE(agent.take().empty()) << "0 is no message";
}

TEST(ClientSession, NotesARefusalAlsoWithoutASession) {
  ContextParts agent;
  const Status status(StatusCode::mismatch, {.what = "a plan"});
  agent.session.refuse(1, wire::RefusalCode::unsupported, status);
  EXPECT_EQ(notes(agent.take(), "message_refused"), 1);
  agent.open_session();
  agent.session.refuse(1, wire::RefusalCode::unsupported, status);
  EXPECT_EQ(agent.sent<wire::RefusalT>().size(), 1u);
}

}  // namespace
}  // namespace tributary
