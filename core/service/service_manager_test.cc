// Tests of notifying systemd. A socket of the test plays the service manager.
#include "core/service/service_manager.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>

namespace tributary {
namespace {

// The service manager's end of the socket. A name with a leading @ is abstract and has no file.
class Listener {
 public:
  explicit Listener(const std::string& name)
      : file_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(::bind(file_, reinterpret_cast<const sockaddr*>(&address), bytes), 0) << name;
  }
  ~Listener() { ::close(file_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::string next() const {  // empty if none was sent
    std::array<char, 200> text{};
    const ssize_t bytes = ::recv(file_, text.data(), text.size(), 0);
    return {text.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
  }

 private:
  int file_;
};

struct ServiceManager : ::testing::Test {
  void SetUp() override {
    std::string name = ::testing::TempDir() + "tributary-notify-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override {
    ::unsetenv("NOTIFY_SOCKET");
    std::filesystem::remove_all(folder);
  }
  static void notify_at(const std::string& socket) { ::setenv("NOTIFY_SOCKET", socket.c_str(), 1); }
  std::filesystem::path folder;
};

TEST_F(ServiceManager, HearsEveryStateOverItsSocket) {
  const std::string name = folder / "socket";
  const Listener listener(name);
  notify_at(name);
  ASSERT_TRUE(notify_service_manager("READY=1").ok());
  ASSERT_TRUE(notify_service_manager("STOPPING=1").ok());
  EXPECT_EQ(listener.next(), "READY=1");
  EXPECT_EQ(listener.next(), "STOPPING=1");
  EXPECT_EQ(listener.next(), "");
}

TEST_F(ServiceManager, HearsOverASocketThatIsInNoFileSystem) {
  const std::string name = "@tributary-test-" + std::to_string(::getpid());
  const Listener listener(name);
  notify_at(name);
  const Status status = notify_service_manager("READY=1");
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(listener.next(), "READY=1");
}

TEST_F(ServiceManager, IsNotMissedWhereThereIsNone) {
  ::unsetenv("NOTIFY_SOCKET");
  EXPECT_TRUE(notify_service_manager("READY=1").ok());
  notify_at("");
  EXPECT_TRUE(notify_service_manager("READY=1").ok());
}

TEST_F(ServiceManager, AnUnreachableManagerIsAnError) {
  for (const std::string& socket :
       {(folder / "nobody").string(), std::string("relative"), "/" + std::string(200, 'x')}) {
    notify_at(socket);
    EXPECT_EQ(notify_service_manager("READY=1").code(), StatusCode::io_error) << socket;
  }
}

}  // namespace
}  // namespace tributary
