// Accepts the connections of the other members and reads their messages. Each other member makes
// one connection, and its end is the loss of the member. Messages, losses and refused connections
// go to MeshContext::events. Internal to core/net/mesh. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/net/buffer_pool.h"
#include "core/net/mesh/tcp/mesh_context.h"
#include "core/net/mesh/tcp/mesh_stream.h"

namespace tributary {

class MeshReceiver final : public PollTarget {
 public:
  // `port` and `context` must outlive this object.
  MeshReceiver(const MeshPort& port, const MeshContext& context);
  ~MeshReceiver() override;
  MeshReceiver(const MeshReceiver&) = delete;
  MeshReceiver& operator=(const MeshReceiver&) = delete;

  // Watches the port. Fails with io_error if the system refuses that.
  Status start();
  // Accepts the connections that wait at the port.
  void ready(std::uint32_t events) override;

  // The time of the next call of look_at_time(), which ends handshakes that take too long.
  std::chrono::nanoseconds next_due() const;
  void look_at_time(std::chrono::nanoseconds now);

  // The socket of the member's connection; null if there is none.
  const File* socket_of(std::uint32_t member) const;
  void add_wire_bytes(LinkCounters& counters) const;

 private:
  struct Incoming;

  Status admit(File file, std::string source);
  void read(Incoming& connection);
  // Returns after each complete message, so that its event is delivered before the next one is
  // read.
  Status read_message(Incoming& connection);
  // Checks the greeting and welcomes the member.
  Status greet(Incoming& connection);
  // Ends a connection, and reports the loss of its member or that it was refused.
  void drop(Incoming& connection, Status why);

  const MeshPort& port_;
  const MeshContext& context_;
  BufferPool pool_;
  // All connections, also before their greeting has arrived.
  std::map<Incoming*, std::unique_ptr<Incoming>> accepted_;
  std::vector<Incoming*> by_member_;  // the greeted ones; null: none
};

}  // namespace tributary
