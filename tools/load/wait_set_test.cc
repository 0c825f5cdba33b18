// Tests of the wait for many members, with descriptors of wakers.
#include "tools/load/wait_set.h"

#include <gmock/gmock.h>

#include <optional>

#include "core/net/waker.h"

namespace tributary {
namespace {

using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::IsEmpty;

Waker waker() { return Waker::open().value(); }

std::vector<std::size_t> ready(WaitSet& set) { return set.wait(nanoseconds(0)).value(); }

TEST(WaitSet, ReturnsTheMembersWithAReadableDescriptorOnce) {
  WaitSet set = WaitSet::open().value();
  const Waker first = waker();
  const Waker second = waker();
  const Waker other = waker();
  ASSERT_TRUE(set.watch(0, std::array{other.file()}).ok());
  ASSERT_TRUE(set.watch(3, std::array{first.file(), second.file()}).ok());
  EXPECT_THAT(ready(set), IsEmpty());
  first.signal();
  second.signal();
  EXPECT_THAT(ready(set), ElementsAre(3));
  EXPECT_THAT(ready(set), ElementsAre(3)) << "until the descriptors are read";
  other.signal();
  EXPECT_THAT(set.wait(std::chrono::hours(1)).value(), ElementsAre(0, 3));
  EXPECT_TRUE(first.take() && second.take());
  EXPECT_THAT(ready(set), ElementsAre(0));
}

TEST(WaitSet, DescriptorsOfTheLastCallCount) {
  WaitSet set = WaitSet::open().value();
  const Waker before = waker();
  const Waker after = waker();
  before.signal();
  after.signal();
  ASSERT_TRUE(set.watch(1, std::array{before.file()}).ok());
  ASSERT_TRUE(set.watch(1, std::array{after.file()}).ok());
  EXPECT_TRUE(after.take());
  EXPECT_THAT(ready(set), IsEmpty());
  ASSERT_TRUE(set.watch(1, {}).ok());
  after.signal();
  EXPECT_THAT(ready(set), IsEmpty());
}

// The kernel gives the number of a closed descriptor to the next one that is opened.
TEST(WaitSet, ANumberMayGoFromOneMemberToAnother) {
  WaitSet set = WaitSet::open().value();
  std::optional<Waker> closed = waker();
  const int number = closed->file();
  ASSERT_TRUE(set.watch(0, std::array{number}).ok());
  closed.reset();
  const Waker next = waker();
  ASSERT_EQ(next.file(), number);
  ASSERT_TRUE(set.watch(1, std::array{number}).ok());
  // The first member notices only now that its descriptor is closed.
  ASSERT_TRUE(set.watch(0, {}).ok());
  next.signal();
  EXPECT_THAT(ready(set), ElementsAre(1));
}

TEST(WaitSet, AClosedDescriptorIsAnError) {
  WaitSet set = WaitSet::open().value();
  EXPECT_EQ(set.watch(0, std::array{-1}).code(), StatusCode::io_error);
}

}  // namespace
}  // namespace tributary
