#include "core/net/udp/udp_port.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

namespace tributary {
namespace {

constexpr std::size_t kPlainBytes = 2048;     // buffer of a datagram without GRO
constexpr std::size_t kJoinedBytes = 65'536;  // and with
constexpr std::size_t kSegmentsMax = 64;      // the kernel's bound of a cut message
constexpr std::size_t kCutBytesMax = 61'440;
constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(int));

Status socket_error(std::string what) {
  return Status(StatusCode::io_error,
                {.what = std::move(what), .got = std::generic_category().message(errno)});
}

sockaddr_in to_socket(const UdpAddress& address) {
  sockaddr_in out = {};
  out.sin_family = AF_INET;
  out.sin_port = htons(address.port);
  out.sin_addr.s_addr = htonl(address.ip);
  return out;
}

UdpAddress from_socket(const sockaddr_in& address) {
  return {.ip = ntohl(address.sin_addr.s_addr), .port = ntohs(address.sin_port)};
}

template <typename T>
bool set_option(int file, int level, int option, const T& value) {
  return ::setsockopt(file, level, option, &value, sizeof(value)) == 0;
}

// The size of the joined datagrams, or that of the only one.
std::size_t segment_bytes(msghdr& header, std::size_t all) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_UDP || c->cmsg_type != UDP_GRO) continue;
    int size = 0;
    std::memcpy(&size, CMSG_DATA(c), sizeof(size));
    if (size > 0) return static_cast<std::size_t>(size);
  }
  return std::max<std::size_t>(all, 1);
}

}  // namespace

// The memory of system calls: one direction uses it at a time, but for the received bytes.
struct UdpBuffers {
  struct Control {
    alignas(cmsghdr) std::array<std::uint8_t, kControlBytes> bytes;
  };

  UdpBuffers(std::size_t batch, std::size_t bytes_each)
      : each(bytes_each),
        bytes(batch * bytes_each),
        in(batch),
        in_parts(batch),
        in_control(batch),
        in_from(batch),
        out(batch),
        out_parts(2 * batch),
        out_control(batch),
        out_to(batch) {}

  std::size_t each;
  Bytes bytes;
  std::vector<mmsghdr> in;
  std::vector<iovec> in_parts;
  std::vector<Control> in_control;
  std::vector<sockaddr_in> in_from;
  std::vector<mmsghdr> out;
  std::vector<iovec> out_parts;  // two for each queued datagram
  std::vector<Control> out_control;
  std::vector<sockaddr_in> out_to;
};

Result<std::unique_ptr<UdpPort>> UdpPort::open(const UdpOptions& options) {
  if (options.batch == 0 || options.batch > 1024) {
    return Status(StatusCode::invalid_argument, {.what = "batch of a UDP port",
                                                 .expected = "1 to 1024",
                                                 .got = fmt::format("{}", options.batch)});
  }
  const int file = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (file < 0) return socket_error("a UDP socket");
  std::unique_ptr<UdpPort> port(new UdpPort(file, options));
  TRIBUTARY_TRY(port->set_up(options));
  return port;
}

UdpPort::UdpPort(int file, const UdpOptions& options) : file_(file), batch_(options.batch) {
  outgoing_.reserve(batch_);
}

UdpPort::~UdpPort() { ::close(file_); }

Status UdpPort::set_up(const UdpOptions& options) {
  // The kernel grants what its limits allow.
  const int requested = static_cast<int>(std::min<std::uint32_t>(options.buffer_bytes, 1u << 30));
  set_option(file_, SOL_SOCKET, SO_RCVBUF, requested);
  set_option(file_, SOL_SOCKET, SO_SNDBUF, requested);
  // Several agents of one machine may listen to one group.
  if (options.listen.is_multicast()) set_option(file_, SOL_SOCKET, SO_REUSEADDR, 1);
  const sockaddr_in listen = to_socket(options.listen);
  if (::bind(file_, reinterpret_cast<const sockaddr*>(&listen), sizeof(listen)) != 0) {
    return socket_error(fmt::format("UDP port {}", options.listen.text()));
  }
  sockaddr_in bound = {};
  socklen_t size = sizeof(bound);
  if (::getsockname(file_, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return socket_error("the address of a UDP port");
  }
  address_ = from_socket(bound);
  const sockaddr_in peer = to_socket(options.peer);
  if (options.peer != UdpAddress() &&
      ::connect(file_, reinterpret_cast<const sockaddr*>(&peer), sizeof(peer)) != 0) {
    return socket_error(fmt::format("UDP peer {}", options.peer.text()));
  }
  const int hops = options.multicast_hops;
  set_option(file_, IPPROTO_IP, IP_MULTICAST_TTL, hops);
  if (address_.ip != 0 && !address_.is_multicast()) {
    const in_addr from = {.s_addr = htonl(address_.ip)};
    set_option(file_, IPPROTO_IP, IP_MULTICAST_IF, from);
  }
  if (options.listen.is_multicast()) {
    const ip_mreq group = {.imr_multiaddr = {.s_addr = htonl(options.listen.ip)},
                           .imr_interface = {.s_addr = htonl(options.group_interface)}};
    if (!set_option(file_, IPPROTO_IP, IP_ADD_MEMBERSHIP, group)) {
      return socket_error(fmt::format("multicast group {}", options.listen.text()));
    }
  }
  if (options.segments) {
    gro_ = set_option(file_, SOL_UDP, UDP_GRO, 1);
    gso_ = set_option(file_, SOL_UDP, UDP_SEGMENT, 0);  // 0: whole, unless a message says more
  }
  buffers_ = std::make_unique<UdpBuffers>(batch_, gro_ ? kJoinedBytes : kPlainBytes);
  return {};
}

Result<std::size_t> UdpPort::receive(Visit visit) {
  UdpBuffers& b = *buffers_;
  for (std::size_t i = 0; i < batch_; ++i) {
    b.in_parts[i] = {.iov_base = b.bytes.data() + i * b.each, .iov_len = b.each};
    b.in[i].msg_hdr = {.msg_name = &b.in_from[i],
                       .msg_namelen = sizeof(b.in_from[i]),
                       .msg_iov = &b.in_parts[i],
                       .msg_iovlen = 1,
                       .msg_control = b.in_control[i].bytes.data(),
                       .msg_controllen = kControlBytes,
                       .msg_flags = 0};
  }
  const int got = ::recvmmsg(file_, b.in.data(), batch_, MSG_DONTWAIT, nullptr);
  if (got < 0) {
    if (errno == ECONNREFUSED) ++counters_.refused;
    if (errno == EAGAIN || errno == EINTR || errno == ECONNREFUSED) return std::size_t{0};
    return socket_error(fmt::format("receiving at UDP port {}", address_.text()));
  }
  ++counters_.receive_calls;
  std::size_t datagrams = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
    const UdpAddress from = from_socket(b.in_from[i]);
    const std::size_t all = b.in[i].msg_len;
    const std::size_t step = segment_bytes(b.in[i].msg_hdr, all);
    const ByteSpan joined(b.bytes.data() + i * b.each, all);
    std::size_t at = 0;
    do {
      visit(joined.subspan(at, std::min(step, all - at)), from);
      ++datagrams;
      at += step;
    } while (at < all);
  }
  counters_.received += datagrams;
  return datagrams;
}

void UdpPort::queue(UdpAddress to, ByteSpan head, ByteSpan body) {
  if (outgoing_.size() == batch_) flush();
  outgoing_.push_back({to, head, body});
}

// Number of queued datagrams from `first` on that can go out as one message: to the same address,
// and all of one size.
std::size_t UdpPort::run_from(std::size_t first) const {
  const Outgoing& head = outgoing_[first];
  if (!gso_ || head.bytes() == 0) return 1;
  const std::size_t most = std::min(kSegmentsMax, kCutBytesMax / head.bytes());
  std::size_t count = 1;
  while (count < most && first + count < outgoing_.size()) {
    const Outgoing& next = outgoing_[first + count];
    if (next.to != head.to || next.bytes() != head.bytes()) break;
    ++count;
  }
  return std::max<std::size_t>(count, 1);
}

void UdpPort::prepare(std::size_t message, std::size_t first, std::size_t count) {
  UdpBuffers& b = *buffers_;
  std::size_t parts = 0;
  for (std::size_t i = first; i < first + count; ++i) {
    for (const ByteSpan part : {outgoing_[i].head, outgoing_[i].body}) {
      if (part.empty()) continue;
      b.out_parts[2 * first + parts++] = {.iov_base = const_cast<std::uint8_t*>(part.data()),
                                          .iov_len = part.size()};
    }
  }
  b.out_to[message] = to_socket(outgoing_[first].to);
  msghdr& header = b.out[message].msg_hdr;
  header = {.msg_name = &b.out_to[message],
            .msg_namelen = sizeof(b.out_to[message]),
            .msg_iov = &b.out_parts[2 * first],
            .msg_iovlen = parts,
            .msg_control = nullptr,
            .msg_controllen = 0,
            .msg_flags = 0};
  if (count == 1) return;
  const auto size = static_cast<std::uint16_t>(outgoing_[first].bytes());
  header.msg_control = b.out_control[message].bytes.data();
  header.msg_controllen = CMSG_SPACE(sizeof(size));
  cmsghdr* const control = CMSG_FIRSTHDR(&header);
  control->cmsg_level = SOL_UDP;
  control->cmsg_type = UDP_SEGMENT;
  control->cmsg_len = CMSG_LEN(sizeof(size));
  std::memcpy(CMSG_DATA(control), &size, sizeof(size));
}

void UdpPort::flush() {
  std::size_t first = 0;
  while (first < outgoing_.size()) {
    const std::size_t begin = first;
    std::size_t messages = 0;
    for (; first < outgoing_.size(); ++messages) {
      const std::size_t count = run_from(first);
      prepare(messages, first, count);
      first += count;
    }
    const bool cut = gso_;
    send_prepared(messages);
    // A device that cannot cut refuses; everything goes again, one by one. Repeats do no harm.
    if (cut && !gso_) first = begin;
  }
  outgoing_.clear();
}

void UdpPort::send_prepared(std::size_t messages) {
  UdpBuffers& b = *buffers_;
  std::size_t done = 0;
  while (done < messages) {
    const int sent = ::sendmmsg(file_, b.out.data() + done, static_cast<unsigned>(messages - done),
                                MSG_DONTWAIT);
    ++counters_.send_calls;
    if (sent > 0) {
      for (int i = 0; i < sent; ++i) {
        const msghdr& header = b.out[done + static_cast<std::size_t>(i)].msg_hdr;
        std::uint16_t size = 0;
        if (header.msg_controllen > 0) {
          std::memcpy(&size, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof(size));
        }
        counters_.sent += size == 0 ? 1 : b.out[done + static_cast<std::size_t>(i)].msg_len / size;
      }
      done += static_cast<std::size_t>(sent);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == ECONNREFUSED) {
      ++counters_.refused;  // of an earlier datagram; this one has not been tried
      continue;
    }
    const bool was_cut = b.out[done].msg_hdr.msg_controllen > 0;
    if (was_cut && (errno == EINVAL || errno == EIO || errno == EOPNOTSUPP)) {
      gso_ = false;
      return;
    }
    ++counters_.unsent;  // lost, as in a queue of the network
    ++done;
  }
}

}  // namespace tributary
