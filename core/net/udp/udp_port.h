// A UDP socket for many small datagrams: batches of system calls (recvmmsg, sendmmsg), and several
// datagrams as one where the kernel can cut and join them (GSO, GRO).
//
// All calls return at once; wait on file(). Datagrams may be lost without an error, also in this
// machine: the protocol above repeats them. Memory is fixed when the port is opened. Not
// thread-safe.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/function_ref.h"
#include "core/base/status.h"
#include "core/net/udp/udp_address.h"

namespace tributary {

struct UdpOptions {
  UdpAddress listen = {};  // port 0: any. A multicast group is joined
  // The only address that datagrams are exchanged with; empty: any. With it, `refused` counts when
  // that machine has no process at the port.
  UdpAddress peer = {};
  bool segments = true;                   // GSO and GRO, where the kernel has them
  std::uint32_t batch = 32;               // messages per system call, 1 to 1024
  std::uint32_t buffer_bytes = 4u << 20;  // of the socket, as far as the kernel allows
  std::uint32_t group_interface = 0;      // address of the interface to join at; 0: the kernel's
  std::uint8_t multicast_hops = 1;        // of multicast datagrams that are sent
};

struct UdpCounters {
  std::uint64_t received = 0;       // datagrams
  std::uint64_t receive_calls = 0;  // system calls
  std::uint64_t sent = 0;
  std::uint64_t send_calls = 0;
  std::uint64_t unsent = 0;  // the kernel had no room, or refused
  // Reports of the peer's machine that no process listens at its port. Every machine on the path
  // can forge them.
  std::uint64_t refused = 0;
};

struct UdpBuffers;  // memory of system calls

class UdpPort {
 public:
  static Result<std::unique_ptr<UdpPort>> open(const UdpOptions& options);
  ~UdpPort();
  UdpPort(const UdpPort&) = delete;
  UdpPort& operator=(const UdpPort&) = delete;

  using Visit = FunctionRef<void(ByteSpan datagram, UdpAddress from)>;
  // Passes the datagrams of one system call to `visit`; the bytes are valid during its call.
  // Returns their number, 0 if there are none now.
  Result<std::size_t> receive(Visit visit);

  // Queues a datagram of both spans, which must stay unchanged until flush(). A full queue is
  // flushed first. At most 1472 bytes.
  void queue(UdpAddress to, ByteSpan head, ByteSpan body = {});
  void flush();

  int file() const { return file_; }
  // With the port that the kernel chose.
  UdpAddress address() const { return address_; }
  bool joins_segments() const { return gro_; }
  bool cuts_segments() const { return gso_; }
  const UdpCounters& counters() const { return counters_; }

 private:
  struct Outgoing {
    UdpAddress to;
    ByteSpan head;
    ByteSpan body;
    std::size_t bytes() const { return head.size() + body.size(); }
  };

  UdpPort(int file, const UdpOptions& options);
  Status set_up(const UdpOptions& options);
  std::size_t run_from(std::size_t first) const;
  void prepare(std::size_t message, std::size_t first, std::size_t count);
  void send_prepared(std::size_t messages);

  const int file_;
  const std::uint32_t batch_;
  UdpAddress address_;
  bool gro_ = false;
  bool gso_ = false;
  std::unique_ptr<UdpBuffers> buffers_;
  std::vector<Outgoing> outgoing_;
  UdpCounters counters_;
};

}  // namespace tributary
