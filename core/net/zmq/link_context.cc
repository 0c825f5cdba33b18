#include "core/net/zmq/link_context.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "core/net/zmq/zmq_socket.h"

namespace tributary {
namespace {

constexpr std::size_t kZapPartsMax = 16;  // a valid request has seven or more parts
constexpr std::string_view kZapVersion = "1.0";

// Lives until the process ends.
const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace

Result<std::shared_ptr<LinkContext>> LinkContext::open(const Options& options) {
  std::shared_ptr<LinkContext> context(
      new LinkContext(options.clock ? *options.clock : system_clock()));
  TRIBUTARY_TRY(context->start(options));
  return context;
}

Status LinkContext::start(const Options& options) {
  context_ = zmq_ctx_new();
  if (context_ == nullptr) return zmq_failed("libzmq");
  if (zmq_has("curve") != 1) {
    return Status(StatusCode::unsupported, {.what = "libzmq",
                                            .expected = "a libzmq with CURVE",
                                            .got = "a libzmq without it",
                                            .remedy = "install Debian's libzmq5"});
  }
  zmq_ctx_set(context_, ZMQ_IO_THREADS, static_cast<int>(std::clamp(options.io_threads, 1u, 64u)));
  zmq_ctx_set(context_, ZMQ_MAX_SOCKETS, static_cast<int>(options.sockets_max));
  TRIBUTARY_ASSIGN(ZmqSocket door, ZmqSocket::open(context_, ZMQ_REP));
  TRIBUTARY_TRY(door.set(ZMQ_LINGER, 0));
  // The handler must be bound before any other socket exists: without one, libzmq accepts every
  // peer.
  if (zmq_bind(door.get(), "inproc://zeromq.zap.01") != 0) return zmq_failed("the ZAP handler");
  doorkeeper_ = std::thread([this, socket = door.release()] { answer_knocks(socket); });
  return {};
}

// The thread that answers ZAP requests one after another. It ends when the context is shut down.
void LinkContext::answer_knocks(void* socket) {
  ZmqSocket door(socket);
  std::vector<ZmqMessage> parts;
  std::vector<ByteSpan> request;
  while (true) {
    const Result<bool> received = door.receive(parts, kZapPartsMax, true);
    if (!received.ok()) return;  // the context is being closed
    request.clear();
    for (ZmqMessage& part : parts) request.push_back(part.bytes());
    const GateAnswer answer = gate_.answer(request);
    const std::string status = std::to_string(answer.status);
    // The reply repeats the request's id.
    const ByteSpan id = request.size() > 1 ? request[1] : ByteSpan();
    const std::array<ByteSpan, 6> reply = {bytes_of(kZapVersion),
                                           id,
                                           bytes_of(std::string_view(status)),
                                           bytes_of(std::string_view(answer.text)),
                                           bytes_of(std::string_view(answer.user_id)),
                                           ByteSpan()};  // no metadata
    for (std::size_t i = 0; i < reply.size(); ++i) {
      ZmqMessage part(reply[i]);
      if (door.send_part(part, i + 1 < reply.size()) != 0) break;
    }
  }
}

LinkContext::~LinkContext() {
  if (context_ == nullptr) return;
  // Shutting down makes the blocking receive() of the thread return an error.
  zmq_ctx_shutdown(context_);
  if (doorkeeper_.joinable()) doorkeeper_.join();
  while (zmq_ctx_term(context_) != 0 && zmq_errno() == EINTR) {
  }
}

}  // namespace tributary
