#include "core/link/feed.h"

#include <gmock/gmock.h>

#include "core/link/link_testing.h"

namespace tributary {
namespace {

using link_testing::bytes;
using link_testing::Federation;
using link_testing::new_keys;
using link_testing::text;

class Feed : public testing::Test {
 protected:
  std::unique_ptr<Publisher> publisher(std::shared_ptr<LinkContext> context = nullptr) {
    Result<std::unique_ptr<Publisher>> opened = open_publisher({.endpoint = "tcp://127.0.0.1:*",
                                                                .keys = keys_,
                                                                .watchers = watchers_,
                                                                .encrypted = encrypted_,
                                                                .message_bytes_max = 1000,
                                                                .times = Federation::quick(),
                                                                .context = std::move(context)});
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    return *std::move(opened);
  }
  std::unique_ptr<Watcher> watcher(const Publisher& publisher, const KeyPair& keys) {
    Result<std::unique_ptr<Watcher>> opened = open_watcher({.endpoint = publisher.endpoint(),
                                                            .keys = keys,
                                                            .publisher = keys_.public_key,
                                                            .encrypted = encrypted_,
                                                            .times = Federation::quick()});
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    return *std::move(opened);
  }
  // What is published before a watcher is there is not for it, so it is said until it is heard.
  std::string hear(Publisher& publisher, Watcher& watcher, std::string_view word) {
    const SystemClock clock;
    while (true) {
      EXPECT_TRUE(publisher.publish(bytes(word)).ok());
      const auto heard = watcher.receive(clock.now() + std::chrono::milliseconds(5));
      if (!heard.ok()) return heard.status().text();
      if (heard->has_value()) return text(**heard);
    }
  }

  KeyPair keys_ = new_keys();
  std::shared_ptr<AllowList> watchers_ = std::make_shared<AllowList>();
  bool encrypted_ = true;
};

TEST_F(Feed, ReachesWhoMayWatch) {
  const KeyPair mine = new_keys();
  watchers_->allow(mine.public_key, "dashboard");
  const auto publisher = this->publisher();
  const auto one = watcher(*publisher, mine);
  const auto two = watcher(*publisher, mine);
  EXPECT_EQ(hear(*publisher, *one, "news"), "news");
  EXPECT_EQ(hear(*publisher, *two, "news"), "news");
}

TEST_F(Feed, NobodyElse) {
  const auto publisher = this->publisher();
  const auto stranger = watcher(*publisher, new_keys());
  EXPECT_THAT(hear(*publisher, *stranger, "secret"), testing::HasSubstr("a refusal"));
}

TEST_F(Feed, WorksOpenlyWhenToldTo) {
  encrypted_ = false;
  const auto publisher = this->publisher();
  const auto anybody = watcher(*publisher, new_keys());
  EXPECT_EQ(hear(*publisher, *anybody, "news"), "news");
}

TEST_F(Feed, SharesTheHubsContext) {
  Result<std::shared_ptr<LinkContext>> context = LinkContext::open({});
  ASSERT_TRUE(context.ok());
  Federation federation;
  auto hub = open_hub({.endpoint = "tcp://127.0.0.1:*",
                       .keys = keys_,
                       .allowed = federation.allowed,
                       .times = Federation::quick(),
                       .context = *context});
  ASSERT_TRUE(hub.ok());
  const auto publisher = this->publisher(*context);
  const KeyPair agent = federation.allowed_keys();
  const auto curious = watcher(*publisher, agent);
  EXPECT_THAT(hear(*publisher, *curious, "x"), testing::HasSubstr("a refusal"))
      << "who may be an agent may not watch";
}

TEST_F(Feed, RefusesWhatIsTooLarge) {
  const auto publisher = this->publisher();
  EXPECT_EQ(publisher->publish(Bytes(1001, 1)).code(), StatusCode::invalid_argument);
  EXPECT_EQ(publisher->publish({}).code(), StatusCode::invalid_argument);
  EXPECT_TRUE(publisher->publish(Bytes(1000, 1)).ok());
  EXPECT_EQ(open_publisher({.endpoint = "tcp://127.0.0.1:*", .keys = keys_}).status().code(),
            StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tributary
