// A lab is created, used, broken and removed; nothing of it remains.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "cli/end_to_end/program_testing.h"

namespace tributary {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::json;
using program_testing::Outcome;
using program_testing::run;
using testing::HasSubstr;

constexpr in_port_t kPort = 4640;

// Returns why no lab can be created here; empty if one can.
std::string what_is_missing() {
  if (::geteuid() != 0) return "only root makes network namespaces";
  if (std::system("ip -V >/dev/null 2>&1 && tc -V >/dev/null 2>&1") != 0) return "no iproute2";
  const int tun = ::open("/dev/net/tun", O_RDWR | O_CLOEXEC);
  if (tun < 0) return "no /dev/net/tun";
  ::close(tun);
  const std::string name = "trib-try-" + std::to_string(::getpid());
  const std::string tried = "ip netns add " + name + " 2>/dev/null && ip netns del " + name;
  return std::system(tried.c_str()) == 0 ? "" : "no network namespace can be made";
}

class Lab : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = what_is_missing(); !missing.empty()) GTEST_SKIP() << missing;
  }
  void TearDown() override {
    if (!IsSkipped()) run({"lab", "down", "--name", name_});
  }

  const std::string& lab() const { return name_; }

  Outcome up(std::vector<std::string> options) const {
    options.insert(options.begin(), {"lab", "up", "--name", name_});
    return run(options);
  }
  Outcome exec(const std::string& node, const std::string& script) const {
    return run({"lab", "exec", "--name", name_, "--node", node, "--", "sh", "-c", script});
  }
  Json listed() const {
    const Json list = Json::parse(run({"lab", "list", "--json"}).out);
    for (const Json& lab : list["data"]["labs"]) {
      if (lab["name"] == name_) return lab;
    }
    return nullptr;
  }

  // Lists everything that the lab has left behind.
  std::vector<std::string> traces_of_it() const {
    std::vector<std::string> left;
    for (const char* folder : {"/run/netns", "/run/tributary/lab", "/etc/netns"}) {
      std::error_code none;
      for (const auto& entry : fs::directory_iterator(folder, none)) {
        if (entry.path().filename().string().find(name_) != std::string::npos) {
          left.push_back(entry.path());
        }
      }
    }
    return left;
  }

 private:
  std::string name_ = "test-" + std::to_string(::getpid());
};

// Does not collect the exit code, so that a later wait still receives it.
bool has_ended(pid_t child) {
  siginfo_t about = {};
  return ::waitid(P_PID, static_cast<id_t>(child), &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         about.si_pid == child;
}

class Socket {
 public:
  explicit Socket(int type) : file_(::socket(AF_INET, type | SOCK_CLOEXEC, 0)) {}
  ~Socket() { ::close(file_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int file() const { return file_; }

 private:
  int file_;
};

sockaddr_in address_of(const std::string& text) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  ::inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  return address;
}

// Runs `what` on a thread inside the node's network namespace.
template <typename What>
void in_node(const std::string& lab, int node, const What& what) {
  std::thread([&] {
    const std::string path = "/run/netns/trib-" + lab + "-" + std::to_string(node);
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(::setns(file, CLONE_NEWNET), 0) << path;
    ::close(file);
    what();
  }).join();
}

// A datagram socket in node 0 that receives, and one in node 1 that sends.
struct Pair {
  std::unique_ptr<Socket> first;
  std::unique_ptr<Socket> second;

  explicit Pair(const std::string& lab) {
    for (const int node : {0, 1}) {
      in_node(lab, node, [&] {
        auto& socket = node == 0 ? first : second;
        socket = std::make_unique<Socket>(SOCK_DGRAM);
        const sockaddr_in any = address_of("0.0.0.0");
        ASSERT_EQ(::bind(socket->file(), reinterpret_cast<const sockaddr*>(&any), sizeof(any)), 0);
      });
    }
  }

  static void send(const Socket& from, const std::string& to) {
    const sockaddr_in address = address_of(to);
    ASSERT_EQ(::sendto(from.file(), "x", 1, 0, reinterpret_cast<const sockaddr*>(&address),
                       sizeof(address)),
              1);
  }
  static bool receive(const Socket& at, int wait_ms) {
    pollfd poll = {.fd = at.file(), .events = POLLIN, .revents = 0};
    if (::poll(&poll, 1, wait_ms) != 1) return false;
    char byte = 0;
    return ::recv(at.file(), &byte, 1, 0) == 1;
  }
};

// Generous limit, in ms, for events that must occur. Their exact time does not matter.
constexpr int kLongMs = 10'000;

void send_over_tcp(const std::string& lab, std::size_t size) {
  std::vector<std::uint8_t> sent(size);
  std::iota(sent.begin(), sent.end(), std::uint8_t{0});
  std::vector<std::uint8_t> received;
  std::unique_ptr<Socket> listener;
  in_node(lab, 0, [&] {
    listener = std::make_unique<Socket>(SOCK_STREAM);
    const int yes = 1;
    ::setsockopt(listener->file(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    const sockaddr_in any = address_of("0.0.0.0");
    ASSERT_EQ(::bind(listener->file(), reinterpret_cast<const sockaddr*>(&any), sizeof(any)), 0);
    ASSERT_EQ(::listen(listener->file(), 1), 0);
  });
  std::thread receiver([&] {
    const int connection = ::accept(listener->file(), nullptr, nullptr);
    std::array<std::uint8_t, 65536> buffer{};
    ssize_t count = 0;
    while ((count = ::recv(connection, buffer.data(), buffer.size(), 0)) > 0) {
      received.insert(received.end(), buffer.begin(), buffer.begin() + count);
    }
    ::close(connection);
  });
  in_node(lab, 1, [&] {
    const Socket socket(SOCK_STREAM);
    const sockaddr_in to = address_of("10.77.0.1");
    ASSERT_EQ(::connect(socket.file(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    for (std::size_t at = 0; at < sent.size();) {
      const ssize_t count = ::send(socket.file(), sent.data() + at, sent.size() - at, MSG_NOSIGNAL);
      ASSERT_GT(count, 0);
      at += static_cast<std::size_t>(count);
    }
  });
  receiver.join();
  EXPECT_EQ(received, sent);
}

TEST_F(Lab, CarriesBytesUntilItIsTakenDown) {
  for (const char* link : {"--rate=100mbit", "--delay=1ms", "--jitter=1ms", "--loss=1%"}) {
    const Outcome made = up({"--nodes", "2", link, "--json"});
    ASSERT_EQ(made.code, 0) << made.out;
    EXPECT_EQ(Json::parse(made.out)["data"]["nodes"].size(), 2u);
    EXPECT_EQ(listed()["condition"], "up");
    send_over_tcp(lab(), 300'000);
    EXPECT_EQ(up({}).code, 22) << "one of this name is up";
    EXPECT_EQ(run({"lab", "down", "--name", lab()}).code, 0);
    EXPECT_THAT(traces_of_it(), testing::IsEmpty());
  }
  EXPECT_EQ(run({"lab", "down", "--name", lab()}).code, 0) << "there is nothing to do";
}

TEST_F(Lab, ALinkInUserSpaceDelaysByAtLeastItsSetting) {
  ASSERT_EQ(up({"--nodes", "2", "--delay", "20ms", "--node", "1:delay=30ms,rate=10mbit"}).code, 0);
  const Pair pair(lab());
  const auto begin = std::chrono::steady_clock::now();
  Pair::send(*pair.first, "10.77.0.2");
  ASSERT_TRUE(Pair::receive(*pair.second, kLongMs));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(50));
  Pair::send(*pair.second, "10.77.0.1");
  ASSERT_TRUE(Pair::receive(*pair.first, kLongMs));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(100));
}

TEST_F(Lab, LostPacketsAreCounted) {
  ASSERT_EQ(up({"--nodes", "2", "--node", "1:loss=100%"}).code, 0);
  const Pair pair(lab());
  for (int i = 0; i < 5; ++i) Pair::send(*pair.first, "10.77.0.2");
  EXPECT_FALSE(Pair::receive(*pair.second, 100));
  Json down;
  for (int i = 0; i < 200 && (down.is_null() || down["lost"] != 5); ++i) {
    down = listed()["nodes"][1].value("down", Json(nullptr));
  }
  ASSERT_TRUE(down.is_object());
  EXPECT_EQ(down["lost"], 5);
  EXPECT_EQ(down["packets"], 0);
}

TEST_F(Lab, ATraceChangesTheLink) {
  const std::string trace = testing::TempDir() + lab() + ".csv";
  std::ofstream(trace) << "seconds, mbit_per_s, delay_ms, loss_percent\n1000, 50, 15, 0\n";
  const Outcome made = up({"--nodes", "2", "--trace", trace});
  fs::remove(trace);
  ASSERT_EQ(made.code, 0) << made.err;
  const Pair pair(lab());
  const auto begin = std::chrono::steady_clock::now();
  Pair::send(*pair.first, "10.77.0.2");
  ASSERT_TRUE(Pair::receive(*pair.second, kLongMs));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(30));
}

TEST_F(Lab, RestartsAfterItsRelayWasKilled) {
  ASSERT_EQ(up({"--nodes", "3", "--delay", "1ms"}).code, 0);
  std::ifstream file("/run/tributary/lab/" + lab() + ".json");
  const pid_t relay = Json::parse(file)["relay"].get<pid_t>();
  ASSERT_GT(relay, 1);
  ASSERT_EQ(::kill(relay, SIGKILL), 0);
  for (int i = 0; i < 200 && listed()["condition"] == "up"; ++i) {
  }
  EXPECT_EQ(listed()["condition"], "its relay has ended");
  ASSERT_EQ(up({"--nodes", "2", "--delay", "1ms"}).code, 0);
  send_over_tcp(lab(), 10'000);
  // A program that still runs in a node ends with the lab.
  const pid_t left = program_testing::start(
      {"lab", "exec", "--name", lab(), "--node", "0", "--", "sleep", "1000"}, {});
  while (
      exec("0", "ip netns pids $(ip netns identify $$) | grep -qx " + std::to_string(left)).code) {
  }
  ASSERT_EQ(run({"lab", "down", "--name", lab()}).code, 0);
  EXPECT_EQ(program_testing::wait_for(left), -SIGTERM);
  EXPECT_THAT(traces_of_it(), testing::IsEmpty());
}

TEST_F(Lab, StoppedOrKilledWhileItIsMade) {
  for (const int signal : {SIGINT, SIGKILL}) {
    for (const std::size_t after : {0u, 1u, 7u, 25u, 41u}) {
      const pid_t making = program_testing::start(
          {"lab", "up", "--name", lab(), "--nodes", "20", "--delay", "1ms"}, {});
      while (traces_of_it().size() < after && !has_ended(making)) {
      }
      ::kill(making, signal);
      const int code = program_testing::wait_for(making);
      // The lab may have been complete before the signal arrived.
      EXPECT_THAT(code, testing::AnyOf(0, -signal, 128 + signal));
      if (code == 128 + signal) {
        EXPECT_THAT(traces_of_it(), testing::IsEmpty());
      }
      if (code == 0) run({"lab", "down", "--name", lab()});
      ASSERT_EQ(up({"--nodes", "2"}).code, 0) << "whatever was left gives way";
      EXPECT_EQ(listed()["nodes"].size(), 2u);
      ASSERT_EQ(run({"lab", "down", "--name", lab()}).code, 0);
      EXPECT_THAT(traces_of_it(), testing::IsEmpty());
    }
  }
}

TEST_F(Lab, RunsProgramsWithTheirOwnExitCodes) {
  ASSERT_EQ(up({"--nodes", "3"}).code, 0);
  const Outcome rank = exec("2",
                            "echo $TRIBUTARY_NODE/$TRIBUTARY_NODES $TRIBUTARY_ADDRESS;"
                            "grep -c node- /etc/hosts; exit 7");
  EXPECT_EQ(rank.code, 7);
  EXPECT_EQ(rank.out, "2/3 10.77.0.3\n3\n");
  EXPECT_EQ(exec("0", "kill -TERM $$").code, -SIGTERM);
  EXPECT_EQ(run({"lab", "exec", "--name", lab(), "--node", "0", "--", "no-such-program"}).code,
            127);
  // Words that look like options of tributary belong to the program.
  EXPECT_EQ(
      run({"lab", "exec", "--name", lab(), "--node", "0", "--", "echo", "--json", "--help"}).out,
      "--json --help\n");
  EXPECT_EQ(run({"lab", "exec", "--name", lab(), "--node", "3", "--", "true"}).code, 10);
  EXPECT_EQ(run({"lab", "exec", "--name", "no-lab", "--node", "0", "--", "true"}).code, 21);
  EXPECT_EQ(run({"lab", "exec", "--name", lab(), "--", "true"}).code, 10);
  EXPECT_EQ(run({"lab", "exec", "--name", lab(), "--node", "0"}).code, 2);
}

TEST_F(Lab, RunsAProgramEverywhereUntilOneFails) {
  ASSERT_EQ(up({"--nodes", "3"}).code, 0);
  const auto everywhere = [&](const std::string& script) {
    return run({"lab", "exec", "--name", lab(), "--all", "--json", "--", "sh", "-c", script});
  };
  const Outcome good = everywhere("exit 0");
  EXPECT_EQ(good.code, 0);
  EXPECT_EQ(Json::parse(good.out)["data"]["exit_codes"], Json({0, 0, 0}));
  const Outcome bad = everywhere("[ $TRIBUTARY_NODE = 1 ] && exit 9; exec sleep 1000");
  EXPECT_EQ(bad.code, 9);
  EXPECT_EQ(Json::parse(bad.out)["data"]["first_to_fail"], 1);
  EXPECT_EQ(Json::parse(bad.out)["data"]["exit_codes"], Json({143, 9, 143}));
}

TEST(LabUsage, ErrorsNameARemedy) {
  EXPECT_EQ(run({"lab", "up", "--rate", "fast"}).code, 2);
  EXPECT_EQ(run({"lab", "up", "--node", "9:rate=1mbit"}).code, 10);
  EXPECT_EQ(run({"lab", "up", "--reorder", "1%"}).code, 10);
  EXPECT_THAT(run({"lab", "up", "--node", "0:dealy=1ms"}).err, HasSubstr("'delay'"));
  const auto as_unprivileged = [] {
    constexpr uid_t kUnprivilegedUser = 65'534;
    if (::geteuid() == 0) ::setresuid(kUnprivilegedUser, kUnprivilegedUser, kUnprivilegedUser);
  };
  const Outcome refused = run({"lab", "up"}, as_unprivileged);
  if (refused.code == 127) GTEST_SKIP() << "the program is not where everybody may run it";
  EXPECT_EQ(refused.code, 41);
  EXPECT_THAT(refused.err, HasSubstr("as root"));
}

}  // namespace
}  // namespace tributary
