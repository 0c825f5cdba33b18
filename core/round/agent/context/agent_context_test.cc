// Tests of the list of actions in which an agent collects its output: notes must name the job and
// the round at the moment of the note.
#include "core/round/agent/context/agent_context.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(ActionList, LabelsNotesWithTheJobAndTheRoundOfTheMoment) {
  ActionList list;
  list.note(LogLevel::info, "before", "", "");
  list.set_job(7);
  list.set_round(3);
  list.refuse_frame("mismatch", "text");
  const Actions actions = list.take();
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(std::get<Note>(actions[0]).job, 0u);
  EXPECT_EQ(std::get<Note>(actions[1]).job, 7u);
  EXPECT_EQ(std::get<Note>(actions[1]).round, 3u);
  EXPECT_EQ(std::get<Note>(actions[1]).level, LogLevel::warning);
  EXPECT_TRUE(list.take().empty());
}

}  // namespace
}  // namespace tributary
