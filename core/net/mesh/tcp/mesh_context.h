// The parts that the connections of one mesh share. Internal to core/net/mesh.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/net/mesh/tcp/mesh.h"
#include "core/net/mesh/tcp/mesh_channel.h"
#include "core/net/mesh/tcp/mesh_poll.h"
#include "core/net/transport.h"

namespace tributary {

// Receives what happens on the connections. It may close a sender during the call.
class MeshEvents {
 public:
  virtual ~MeshEvents() = default;
  virtual void message_arrived(Received received) = 0;
  // A connection with the member has ended or could not be made.
  virtual void member_gone(std::uint32_t member, Status why) = 0;
  // A connection ended before its member was known. `source` is its address.
  virtual void connection_refused(std::string source, Status why) = 0;
};

struct MeshContext {
  const MeshOptions& options;
  const Clock& clock;
  MeshPoll& poll;
  MeshEvents& events;
  LinkCounters& counters;
  const TlsSettings* tls = nullptr;  // null: nothing is encrypted

  std::uint32_t members() const { return static_cast<std::uint32_t>(options.members.size()); }
};

// A socket with its channel; base of both kinds of connections.
struct MeshConnection : PollTarget {
  File file;
  std::unique_ptr<MeshChannel> channel;
  // The time by which the handshake must be complete; max() once it is.
  std::chrono::nanoseconds deadline{std::chrono::nanoseconds::max()};

  Status watch(const MeshPoll& poll, std::uint32_t events) {
    return poll.watch(file.get(), *this, events);
  }
  void add_wire_bytes(LinkCounters& counters) const {
    counters.wire_bytes_in += channel->bytes_in;
    counters.wire_bytes_out += channel->bytes_out;
  }
};

// Closes the socket, counts its bytes and passes the object to MeshPoll::bury().
void bury(const MeshContext& context, std::unique_ptr<MeshConnection> connection);

// The error of a step that took too long; `why` is the error of its last try.
Status mesh_step_late(std::string what, const Status& why = {});

}  // namespace tributary
