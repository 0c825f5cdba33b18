#include "core/net/zmq/socket_settings.h"

#include <algorithm>

namespace tributary {
namespace {

// Upper bound of CURVE's overhead per part (nonce, tag and a few more bytes). The exact limits are
// checked after decryption.
constexpr std::size_t kEnvelopeBytesMax = 256;
// On an idle connection: seconds until the kernel's first probe, seconds between two probes, and
// number of unanswered probes after which the connection ends.
constexpr int kKeepAliveAfter_s = 60;
constexpr int kKeepAliveEvery_s = 10;
constexpr int kKeepAlivesMissedMax = 6;

Status keep_alive_by_kernel(ZmqSocket& socket) {
  TRIBUTARY_TRY(socket.set(ZMQ_TCP_KEEPALIVE, 1));
  TRIBUTARY_TRY(socket.set(ZMQ_TCP_KEEPALIVE_IDLE, kKeepAliveAfter_s));
  TRIBUTARY_TRY(socket.set(ZMQ_TCP_KEEPALIVE_INTVL, kKeepAliveEvery_s));
  return socket.set(ZMQ_TCP_KEEPALIVE_CNT, kKeepAlivesMissedMax);
}

}  // namespace

Status configure(ZmqSocket& socket, const LinkLimits& limits, const LinkTimes& times) {
  const auto ms = [](std::chrono::milliseconds time) { return static_cast<int>(time.count()); };
  const std::size_t largest = std::max(limits.frame_bytes_max, limits.payload_bytes_max);
  TRIBUTARY_TRY(socket.set(ZMQ_MAXMSGSIZE, static_cast<std::int64_t>(largest + kEnvelopeBytesMax)));
  TRIBUTARY_TRY(socket.set(ZMQ_SNDHWM, static_cast<int>(limits.send_queue_messages)));
  // libzmq queues the peer's key as a message of its own, which is counted in the queue forever.
  TRIBUTARY_TRY(socket.set(ZMQ_RCVHWM, static_cast<int>(limits.receive_queue_messages + 1)));
  TRIBUTARY_TRY(keep_alive_by_kernel(socket));
  // This option ends a connection whose data is not acknowledged (LinkTimes::unacknowledged_max).
  TRIBUTARY_TRY(socket.set(ZMQ_TCP_MAXRT, ms(times.unacknowledged_max)));
  TRIBUTARY_TRY(socket.set(ZMQ_HANDSHAKE_IVL, ms(times.handshake_max)));
  TRIBUTARY_TRY(socket.set(ZMQ_LINGER, ms(times.linger_max)));
  return socket.set(ZMQ_IPV6, 1);
}

Status serve_with_curve(ZmqSocket& socket, const KeyPair& keys, std::string_view domain) {
  TRIBUTARY_TRY(socket.set(ZMQ_CURVE_SERVER, 1));
  TRIBUTARY_TRY(socket.set(ZMQ_CURVE_SECRETKEY, keys.secret_key.bytes()));
  return socket.set(ZMQ_ZAP_DOMAIN, bytes_of(domain));
}

Status call_with_curve(ZmqSocket& socket, const KeyPair& keys, const PublicKey& server) {
  TRIBUTARY_TRY(socket.set(ZMQ_CURVE_SERVERKEY, ByteSpan(server.bytes)));
  TRIBUTARY_TRY(socket.set(ZMQ_CURVE_PUBLICKEY, ByteSpan(keys.public_key.bytes)));
  return socket.set(ZMQ_CURVE_SECRETKEY, keys.secret_key.bytes());
}

}  // namespace tributary
