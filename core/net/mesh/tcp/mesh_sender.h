// Sends messages to one other member, over a connection that this member makes.
//
// It connects at the first message, and again until the member has sent its welcome or the time
// limit has passed. No message is sent before the welcome, so a new connection loses none. After
// it, the end of the connection is the loss of the member. Internal to core/net/mesh. Not
// thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/net/backoff.h"
#include "core/net/mesh/tcp/mesh_context.h"
#include "core/net/mesh/tcp/mesh_stream.h"
#include "core/net/message_queue.h"

namespace tributary {

class MeshSender {
 public:
  // `context` must outlive this object.
  MeshSender(const MeshContext& context, std::uint32_t member, const Address& address);
  ~MeshSender();
  MeshSender(const MeshSender&) = delete;
  MeshSender& operator=(const MeshSender&) = delete;

  // Sends the message, or queues it. The caller checks the bound of the queue.
  void push(MeshOutgoing message);
  std::size_t waiting_bytes() const { return queue_.bytes(); }
  // Drops the waiting messages and returns their bytes that were not sent.
  std::size_t clear() { return queue_.clear(); }
  // Ends the connection and connects no more.
  void close();

  // The time of the next call of look_at_time().
  std::chrono::nanoseconds next_due() const;
  // Makes a due attempt to connect. Reports the member as gone if its time is over.
  void look_at_time(std::chrono::nanoseconds now);

  // The connected socket; null if there is none.
  const File* socket() const;
  void add_wire_bytes(LinkCounters& counters) const;

 private:
  struct Outgoing;

  void dial();
  Status connect();
  void dial_later(Status why);
  void ready(std::uint32_t events);
  // The result of the connection attempt.
  Status finish_connecting();
  Status listen();
  void flush();
  Status send_some();
  void failed(Status why);

  const MeshContext& context_;
  const std::uint32_t member_;
  const Address address_;
  MessageQueue<MeshOutgoing> queue_;  // sent once the connection has its welcome
  std::unique_ptr<Outgoing> connection_;
  Status why_not_;                  // error of the last attempt to connect
  std::optional<Backoff> backoff_;  // set at the first attempt
  // max() if no attempt is planned.
  std::chrono::nanoseconds redial_at_{std::chrono::nanoseconds::max()};
  // After this time no further attempt is made.
  std::chrono::nanoseconds give_up_at_{std::chrono::nanoseconds::max()};
};

}  // namespace tributary
