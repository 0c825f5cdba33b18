// Tests of parsing operators' requests.
#include "coordinator/operators/control_question.h"

#include <gmock/gmock.h>

#include <string>

namespace tributary {
namespace {

using testing::HasSubstr;

TEST(ControlQuestion, VerbsAreRead) {
  EXPECT_EQ(read_control_question(R"({"verb":"list"})")->verb, ControlVerb::list);
  const auto pause = read_control_question(R"({"verb":"pause","job":"digits","reason":"lunch"})");
  ASSERT_TRUE(pause.ok()) << pause.status().text();
  EXPECT_EQ(pause->verb, ControlVerb::change);
  EXPECT_EQ(pause->state, wire::JobState::paused);
  EXPECT_EQ(pause->job, "digits");
  EXPECT_EQ(pause->reason, "lunch");
  EXPECT_EQ(read_control_question(R"({"verb":"resume","job":"7"})")->state,
            wire::JobState::running);
  EXPECT_EQ(read_control_question(R"({"verb":"stop","job":"7"})")->state, wire::JobState::stopped);
}

TEST(ControlQuestion, AJobIsReadAndItsModelIsBesideIt) {
  const auto submit = read_control_question(
      R"({"verb":"submit","job":"name = \"a\"\nrounds = 3\nmodel_file = \"net.pt\"","folder":"/jobs"})");
  ASSERT_TRUE(submit.ok()) << submit.status().text();
  ASSERT_TRUE(submit->settings);
  EXPECT_EQ(submit->job, "a");
  EXPECT_EQ(submit->settings->rounds, 3u);
  EXPECT_EQ(submit->settings->model_file, "/jobs/net.pt");
}

TEST(ControlQuestion, AgentsAreAllowedAndRevoked) {
  const auto allow = read_control_question(
      R"({"verb":"allow","agent":"roof-1","key":"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"})");
  ASSERT_TRUE(allow.ok()) << allow.status().text();
  EXPECT_EQ(allow->verb, ControlVerb::allow);
  EXPECT_EQ(allow->agent.id, "roof-1");
  EXPECT_EQ(key_text(allow->agent.key), "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7");
  const auto revoke = read_control_question(R"({"verb":"revoke","agent":"roof-1"})");
  ASSERT_TRUE(revoke.ok()) << revoke.status().text();
  EXPECT_EQ(revoke->verb, ControlVerb::revoke);
  EXPECT_EQ(revoke->agent.id, "roof-1");
}

TEST(ControlQuestion, ErrorsNameTheWrongField) {
  const auto error = [](std::string_view text) {
    const auto question = read_control_question(text);
    return question.ok() ? std::string() : question.status().text();
  };
  EXPECT_THAT(error(""), HasSubstr("JSON object"));
  EXPECT_THAT(error("[]"), HasSubstr("JSON object"));
  EXPECT_THAT(error(std::string(100'000, '[')), HasSubstr("JSON object"));
  EXPECT_THAT(error("{}"), HasSubstr("'verb'"));
  EXPECT_THAT(error(R"({"verb":"resum"})"), HasSubstr("resume"));
  EXPECT_THAT(error(R"({"verb":"pause"})"), HasSubstr("'job'"));
  EXPECT_THAT(error(R"({"verb":"pause","job":7})"), HasSubstr("'job'"));
  EXPECT_THAT(error(R"({"verb":"submit","job":"rouns = 3"})"), HasSubstr("rounds"));
  EXPECT_THAT(error(R"({"verb":"allow","agent":"a"})"), HasSubstr("'key'"));
  EXPECT_THAT(error(R"({"verb":"allow","agent":"a","key":"short"})"), HasSubstr("40"));
  EXPECT_THAT(error(R"({"verb":"revoke","agent":"a b"})"), HasSubstr("agent"));
  EXPECT_THAT(error(R"({"verb":"revoke"})"), HasSubstr("'agent'"));
}

}  // namespace
}  // namespace tributary
