// Tests that bytes of an incomplete message are counted as they arrive.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <thread>

#include "core/net/tcp_statistics.h"
#include "core/net/zmq/link_testing.h"

namespace tributary {
namespace {

using link_testing::Federation;
using link_testing::pump;
using link_testing::Side;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A TCP relay for one connection. It forwards as many bytes in each direction as the test allows.
class Relay {
 public:
  explicit Relay(const std::string& hub_endpoint) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const std::string digits = hub_endpoint.substr(hub_endpoint.rfind(':') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), hub_port_);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    endpoint_ = "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { run(); });
  }
  ~Relay() {
    stopped_ = true;
    thread_.join();
    ::close(listener_);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  const std::string& endpoint() const { return endpoint_; }
  std::atomic<std::size_t>& allowed_up() { return allowed_[0]; }
  std::atomic<std::size_t>& allowed_down() { return allowed_[1]; }

 private:
  static bool wait_for(int file) {
    pollfd watched{.fd = file, .events = POLLIN, .revents = 0};
    return ::poll(&watched, 1, 1) > 0;
  }

  void run() {
    while (!stopped_ && !wait_for(listener_)) {
    }
    if (stopped_) return;
    std::array<int, 2> files = {::accept(listener_, nullptr, nullptr),
                                ::socket(AF_INET, SOCK_STREAM, 0)};
    const sockaddr_in hub = loopback(hub_port_);
    bool open = ::connect(files[1], reinterpret_cast<const sockaddr*>(&hub), sizeof(hub)) == 0;
    while (open && !stopped_) {
      for (std::size_t i = 0; i < files.size(); ++i) {
        open = open && pass_on(files[i], files[1 - i], allowed_[i]);
      }
    }
    for (const int file : files) ::close(file);
  }

  // Returns false if the connection has ended.
  static bool pass_on(int from, int to, std::atomic<std::size_t>& allowed) {
    std::array<char, 4096> buffer;
    if (!wait_for(from)) return true;
    // Read after the wait: the test sets the allowance to 0 before it sends.
    const std::size_t size = std::min<std::size_t>(buffer.size(), allowed);
    if (size == 0) {
      ::poll(nullptr, 0, 1);
      return true;
    }
    const ssize_t got = ::recv(from, buffer.data(), size, 0);
    if (got <= 0) return false;
    allowed -= static_cast<std::size_t>(got);
    return ::send(to, buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) == got;
  }

  int listener_;
  std::uint16_t hub_port_ = 0;
  std::string endpoint_;
  std::array<std::atomic<std::size_t>, 2> allowed_ = {SIZE_MAX, SIZE_MAX};
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

// A spoke that reaches its hub through a relay, which holds bytes back on request.
class Arrived : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    federation_.encrypted = GetParam();
    hub_ = federation_.hub();
    relay_.emplace(federation_.endpoint);
    SpokeOptions options = federation_.spoke_options(federation_.allowed_keys());
    options.endpoint = relay_->endpoint();
    spoke_ = Federation::spoke(options);
    ASSERT_TRUE(pump({&hub_, &spoke_}, [&] { return hub_.connected() && spoke_.connected(); }));
  }

  static std::uint64_t arrived(const Side& side) {
    return side.link->bytes_arrived(side.connection());
  }
  // Sends a large message and lets it through in three pieces.
  void expect_progress(const Side& from, const Side& to, std::atomic<std::size_t>& allowed) {
    constexpr std::size_t kPayload = 1'000'000;
    constexpr std::size_t kPiece = 300'000;
    const std::uint64_t before = arrived(to);
    EXPECT_GT(before, 0u);
    allowed = 0;
    ASSERT_TRUE(from.send("large", Bytes(kPayload, 1)).ok());
    for (std::uint64_t part = 1; part <= 2; ++part) {
      allowed = kPiece;
      ASSERT_TRUE(pump({&hub_, &spoke_}, [&] { return arrived(to) >= before + part * kPiece; }));
      EXPECT_EQ(arrived(to), before + part * kPiece);
      EXPECT_EQ(to.count<Received>(), 0u);
    }
    allowed = SIZE_MAX;
    ASSERT_TRUE(pump({&hub_, &spoke_}, [&] { return to.count<Received>() == 1; }));
    EXPECT_EQ(arrived(to), before + wire_bytes(5, kPayload, GetParam()));
  }

  Federation federation_;
  Side hub_;
  std::optional<Relay> relay_;
  Side spoke_;
};
INSTANTIATE_TEST_SUITE_P(, Arrived, testing::Bool(), [](const auto& each) {
  return std::string(each.param ? "Encrypted" : "Open");
});

// A megabyte in three pieces; the count is exact after each piece.
TEST_P(Arrived, AHubSeesBytesOfAMessageThatIsNotComplete) {
  ASSERT_NO_FATAL_FAILURE(expect_progress(spoke_, hub_, relay_->allowed_up()));
}

// The same in the other direction.
TEST_P(Arrived, ASpokeSeesBytesOfAMessageThatIsNotComplete) {
  ASSERT_NO_FATAL_FAILURE(expect_progress(hub_, spoke_, relay_->allowed_down()));
}

// A connection number is not a descriptor, and an ended connection has no count.
TEST_P(Arrived, NothingOnConnectionsThatAreNotThere) {
  for (const Side* side : {&hub_, &spoke_}) {
    EXPECT_EQ(side->link->bytes_arrived(0), 0u);
    EXPECT_EQ(side->link->bytes_arrived(side->connection() + 1), 0u);
    EXPECT_GT(arrived(*side), 0u);
  }
  relay_.reset();
  ASSERT_TRUE(pump({&hub_, &spoke_}, [&] { return !hub_.connected() && !spoke_.connected(); }));
  EXPECT_EQ(arrived(hub_), 0u);
  EXPECT_EQ(arrived(spoke_), 0u);
}

// No descriptor, a closed one, and a pipe.
TEST(TcpBytesReceived, AreUnknownOfWhatIsNoConnection) {
  EXPECT_EQ(tcp_bytes_received(-1), 0u);
  const int closed = ::dup(0);
  ::close(closed);
  EXPECT_EQ(tcp_bytes_received(closed), 0u);
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  EXPECT_EQ(tcp_bytes_received(pipe[0]), 0u);
  for (const int file : pipe) ::close(file);
}

}  // namespace
}  // namespace tributary
