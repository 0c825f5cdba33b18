// Tests of calling separate programs as commands.
#include "cli/process/tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Tools, AToolIsCalledWithAllButTheWordThatNamesIt) {
  const auto call = tool_call({"lab", "exec", "--node", "2", "--", "lab"});
  ASSERT_TRUE(call);
  EXPECT_EQ(call->program, "tributary-lab");
  EXPECT_THAT(call->args, ElementsAre("exec", "--node", "2", "--", "lab"));
}

TEST(Tools, OptionsMayStandBeforeTheWord) {
  const auto call = tool_call({"--json", "load", "--agents", "4"});
  ASSERT_TRUE(call);
  EXPECT_EQ(call->program, "tributary-load");
  EXPECT_THAT(call->args, ElementsAre("--json", "--agents", "4"));
}

TEST(Tools, OtherWordsNameNone) {
  EXPECT_FALSE(tool_call({}));
  EXPECT_FALSE(tool_call({"--help"}));
  EXPECT_FALSE(tool_call({"job", "list"}));
  EXPECT_FALSE(tool_call({"job", "lab"}));
  EXPECT_THAT(tool_call({"lab"})->args, IsEmpty());
}

TEST(Tools, OneThatIsNotInstalledIsNamed) {
  const Status status = exec_tool({.program = "tributary-none-of-ours", .args = {}});
  EXPECT_EQ(status.code(), StatusCode::not_found);
  EXPECT_THAT(status.text(), testing::HasSubstr("tributary-none-of-ours"));
}

}  // namespace
}  // namespace tributary
