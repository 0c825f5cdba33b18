#include "core/net/zmq/control.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/net/waker.h"
#include "core/net/zmq/zmq_socket.h"

namespace tributary {
namespace {

using Context = std::unique_ptr<void, int (*)(void*)>;
constexpr std::chrono::hours kForAWhile{1};  // wake() ends the wait earlier
// Interval at which the wait checks that the daemon and the caller are still there.
constexpr std::chrono::milliseconds kControlLookEvery{250};

// The kernel's limit for the path of a Unix socket, with its terminating zero.
Status check_path(const std::string& path) {
  constexpr std::size_t kMost = sizeof(sockaddr_un::sun_path) - 1;
  if (!path.empty() && path.size() <= kMost) return {};
  return Status(StatusCode::invalid_argument,
                {.what = fmt::format("control socket '{}'", path),
                 .expected = fmt::format("a path of 1 to {} characters", kMost),
                 .got = fmt::format("{}", path.size()),
                 .remedy = "keep the journal in a folder with a shorter name"});
}

ByteSpan bytes_of_text(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Messages larger than the limit are refused by libzmq, which closes the connection.
Result<ZmqSocket> open_socket(void* context, int type) {
  TRIBUTARY_ASSIGN(ZmqSocket socket, ZmqSocket::open(context, type));
  TRIBUTARY_TRY(socket.set(ZMQ_MAXMSGSIZE, static_cast<std::int64_t>(kControlBytesMax)));
  TRIBUTARY_TRY(socket.set(ZMQ_LINGER, 0));
  return socket;
}

class Server final : public ControlServer {
 public:
  Server(std::string path, Answer answer, Context context, ZmqSocket socket, Waker waker)
      : path_(std::move(path)),
        answer_(std::move(answer)),
        context_(std::move(context)),
        socket_(std::move(socket)),
        waker_(std::move(waker)),
        // The thread is the last member, so everything that it uses exists when it starts.
        thread_([this] { serve(); }) {}

  // The file is removed after the socket was closed, because libzmq may remove it too.
  ~Server() override {
    ending_ = true;
    waker_.signal();
    thread_.join();
    socket_.close();
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

 private:
  // Answers one question after another. REP sockets require an answer to every question, so a
  // malformed question gets an empty one.
  void serve() {
    while (!ending_) {
      std::array<zmq_pollitem_t, 2> items = {
          {{.socket = socket_.get(), .fd = 0, .events = ZMQ_POLLIN, .revents = 0},
           {.socket = nullptr, .fd = waker_.file(), .events = ZMQ_POLLIN, .revents = 0}}};
      if (!wait_for(items, kForAWhile).ok()) return;
      if (ending_) return;
      std::vector<ZmqMessage> parts;
      const Result<bool> received = socket_.receive(parts, 1);
      if (!received.ok()) return;
      if (!*received) continue;
      ZmqMessage answer(
          bytes_of_text(parts.size() == 1 ? answer_(as_text(parts[0].bytes())) : std::string()));
      socket_.send_part(answer, false);
    }
  }

  const std::string path_;
  const Answer answer_;
  const Context context_;
  ZmqSocket socket_;
  Waker waker_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

// Checks that a daemon listens. libzmq would wait silently until one starts to.
Status check_listener(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int failed = ::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int error = errno;
  ::close(file);
  if (failed == 0) return {};
  const bool forbidden = error == EACCES || error == EPERM;
  return Status(
      forbidden ? StatusCode::io_error : StatusCode::unavailable,
      {.what = fmt::format("control socket '{}'", path),
       .expected = "a running coordinator that listens on it",
       .got = std::generic_category().message(error),
       .remedy = forbidden ? "run the command as the user of the coordinator"
                           : "start the coordinator, or name the journal of a running one"});
}

Status answer_cancelled(const std::string& path) {
  return Status(StatusCode::cancelled, {.what = fmt::format("answer of the daemon at '{}'", path),
                                        .expected = "a caller that waits for it",
                                        .got = "the caller stopped waiting",
                                        .remedy = {}});
}

}  // namespace

std::string control_path(const std::string& journal) { return journal + ".control"; }

Result<std::unique_ptr<ControlServer>> ControlServer::open(const std::string& path, Answer answer) {
  TRIBUTARY_TRY(check_path(path));
  Context context(zmq_ctx_new(), zmq_ctx_term);
  TRIBUTARY_ASSIGN(ZmqSocket socket, open_socket(context.get(), ZMQ_REP));
  // The mask belongs to the process, so files that other threads create at this moment get it too.
  const mode_t before = ::umask(0177);  // only the owner may use the file, from its creation on
  const int failed = zmq_bind(socket.get(), ("ipc://" + path).c_str());
  ::umask(before);
  if (failed != 0) return zmq_failed(fmt::format("control socket '{}'", path));
  TRIBUTARY_ASSIGN(Waker waker, Waker::open());
  return std::unique_ptr<ControlServer>(std::make_unique<Server>(
      path, std::move(answer), std::move(context), std::move(socket), std::move(waker)));
}

// The wait is divided into short parts, so that the end of the daemon and a cancellation are
// noticed soon.
Result<std::string> ask_daemon(const std::string& path, std::string_view question,
                               std::chrono::nanoseconds patience,
                               const std::atomic<bool>* cancelled) {
  TRIBUTARY_TRY(check_path(path));
  if (question.size() > kControlBytesMax) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "question to a daemon",
                   .expected = fmt::format("at most {} bytes", kControlBytesMax),
                   .got = fmt::format("{}", question.size()),
                   .remedy = {}});
  }
  // Checked again in every wait: libzmq reconnects silently, so a daemon that ends would otherwise
  // leave the caller waiting for all its patience.
  TRIBUTARY_TRY(check_listener(path));
  const Context context(zmq_ctx_new(), zmq_ctx_term);
  TRIBUTARY_ASSIGN(ZmqSocket socket, open_socket(context.get(), ZMQ_REQ));
  if (zmq_connect(socket.get(), ("ipc://" + path).c_str()) != 0) {
    return zmq_failed(fmt::format("control socket '{}'", path));
  }
  ZmqMessage message(bytes_of_text(question));
  if (socket.send_part(message, false) != 0) return zmq_failed("question to a daemon");
  std::array<zmq_pollitem_t, 1> items = {
      {{.socket = socket.get(), .fd = 0, .events = ZMQ_POLLIN, .revents = 0}}};
  bool received = false;
  for (std::chrono::nanoseconds left = patience; !received && left.count() > 0;
       left -= kControlLookEvery) {
    if (cancelled && *cancelled) return answer_cancelled(path);
    TRIBUTARY_ASSIGN(received,
                     wait_for(items, std::min<std::chrono::nanoseconds>(kControlLookEvery, left)));
    if (!received) TRIBUTARY_TRY(check_listener(path));
  }
  std::vector<ZmqMessage> parts;
  if (received) {
    TRIBUTARY_ASSIGN(const bool whole, socket.receive(parts, 1));
    if (whole && parts.size() == 1) return std::string(as_text(parts[0].bytes()));
  }
  return Status(
      StatusCode::deadline_exceeded,
      {.what = fmt::format("answer of the daemon at '{}'", path),
       .expected = fmt::format("one within {} s",
                               std::chrono::duration_cast<std::chrono::seconds>(patience).count()),
       .got = "none",
       .remedy = "see the log of the daemon"});
}

}  // namespace tributary
