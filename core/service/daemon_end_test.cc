// Tests of the end of a daemon: when it is idle, after its grace time, or with an error.
#include "core/service/daemon_end.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(DaemonEnd, AnIdleDaemonRunsUntilItIsStopped) {
  DaemonEnd end(100);
  end.look(1'000, true);
  EXPECT_FALSE(end.ended());
  EXPECT_FALSE(end.stopping());
}

TEST(DaemonEnd, OneThatIsStoppedEndsAsSoonAsItIsIdle) {
  DaemonEnd end(100);
  end.stop(1'000);
  EXPECT_TRUE(end.stopping());
  end.look(1'050, false);
  EXPECT_FALSE(end.ended());
  end.look(1'060, true);
  EXPECT_TRUE(end.ended());
  EXPECT_TRUE(end.status().ok());
}

TEST(DaemonEnd, OneThatIsNeverIdleEndsAfterItsGrace) {
  DaemonEnd end(100);
  end.stop(1'000);
  end.look(1'099, false);
  EXPECT_FALSE(end.ended());
  end.look(1'100, false);
  EXPECT_TRUE(end.ended());
}

TEST(DaemonEnd, AnErrorEndsItAndIsWhy) {
  DaemonEnd end(100);
  end.fail({});
  EXPECT_FALSE(end.ended()) << "no error";
  end.fail(Status(StatusCode::mismatch, {.what = "a job"}));
  EXPECT_TRUE(end.ended());
  EXPECT_EQ(end.status().code(), StatusCode::mismatch);
  DaemonEnd finished(100);
  finished.finish({});
  EXPECT_TRUE(finished.ended());
  EXPECT_TRUE(finished.status().ok());
}

}  // namespace
}  // namespace tributary
