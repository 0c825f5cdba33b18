// Telemetry for whoever watches (a dashboard, a log): one publisher, any number of watchers, each
// with a key on an allow-list of its own.
//
// ZeroMQ cannot put this on the hub's port, since a port belongs to one socket and a socket has one
// pattern; so it takes a second one, and only where somebody asks for it. Unlike everything else
// here it may lose messages without a word: a watcher that is too slow misses some. Whoever
// publishes numbers them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/link/link_options.h"

namespace tributary {

struct FeedOptions {
  std::string endpoint;  // "tcp://*:4641"
  KeyPair keys;
  std::shared_ptr<const AllowList> watchers = nullptr;
  bool encrypted = true;  // as for hubs
  std::size_t message_bytes_max = wire::kListFrameBytesMax;
  std::uint32_t queue_messages = 256;  // for each watcher
  LinkTimes times = {};
  std::shared_ptr<LinkContext> context = nullptr;  // null: its own; may be the hub's
};

// Both belong to one thread.
class Publisher {
 public:
  virtual ~Publisher() = default;
  virtual Status publish(ByteSpan message) = 0;
  virtual std::string endpoint() const = 0;
};
Result<std::unique_ptr<Publisher>> open_publisher(const FeedOptions& options);

struct WatcherOptions {
  std::string endpoint;
  KeyPair keys;
  PublicKey publisher;  // pinned
  bool encrypted = true;
  std::size_t message_bytes_max = wire::kListFrameBytesMax;
  std::uint32_t queue_messages = 256;
  LinkTimes times = {};
  std::shared_ptr<LinkContext> context = nullptr;
};

class Watcher {
 public:
  virtual ~Watcher() = default;
  // The next message; nothing when the deadline has passed. A publisher that is gone is dialled
  // again; one that refuses is an error, after which the watcher can only be dropped.
  virtual Result<std::optional<Bytes>> receive(std::chrono::nanoseconds deadline) = 0;
};
Result<std::unique_ptr<Watcher>> open_watcher(const WatcherOptions& options);

}  // namespace tributary
