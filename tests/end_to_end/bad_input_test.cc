// Strangers, liars and a full disk at a federation that goes on.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <string>

#include "core/base/clock.h"
#include "core/link/allow_list.h"
#include "core/link/spoke.h"
#include "schemas/frame.h"
#include "tests/end_to_end/federation.h"

namespace tributary::end_to_end {
namespace {

TEST(BadInput, AKeyThatIsNotAllowedIsRefusedAndToldOnce) {
  Federation federation({.rounds = 30, .agent_settings = {"trainer.train_ms=20"}});
  federation.start_all();
  ASSERT_TRUE(federation.committed(1));
  ASSERT_TRUE(write_key_pair(federation.path("stranger.key"), *make_key_pair()).ok());
  std::vector<std::string> command = federation.agent_command(0);
  command.insert(command.end(), {"--set", "agent_id=stranger", "--set",
                                 "journal.file=" + federation.path("stranger.db"), "--set",
                                 "link.key_file=" + federation.path("stranger.key")});
  Process stranger(command, federation.path("stranger.log"));
  EXPECT_TRUE(federation.coordinator().logs({"link_refused", "reason=unknown_key"}));
  federation.expect_everybody_ends();
  stranger.kill();
  EXPECT_TRUE(stranger.lines_with({"model stored"}).empty());
  EXPECT_EQ(federation.coordinator().lines_with({"link_refused", "reason=unknown_key"}).size(), 1u);
  federation.expect_sound();
}

TEST(BadInput, AnAgentThatExpectsAnotherCoordinatorDoesNotTalkToThisOne) {
  Federation federation({.rounds = 30, .agent_settings = {"trainer.train_ms=20"}});
  federation.start_all();
  ASSERT_TRUE(federation.committed(1));
  std::vector<std::string> command = federation.agent_command(0);
  command.insert(command.end(), {"--set", "journal.file=" + federation.path("other.db"), "--set",
                                 "link.coordinator_key=" + key_text(make_key_pair()->public_key)});
  Process other(command, federation.path("other.log"));
  EXPECT_TRUE(other.logs({"unreachable"}));
  other.kill();
  federation.expect_everybody_ends();
  federation.expect_sound();
}

// --- random and mutated frames
// -----------------------------------------------------------------------------------------------

Bytes a_hello(const std::string& id) {
  wire::HelloT hello;
  hello.version_min = hello.version_max = wire::kProtocolVersionMax;
  hello.build = "fuzzer";
  hello.role = wire::Role::agent;
  hello.agent_id = id;
  hello.incarnation = 1;
  hello.capabilities = std::make_unique<wire::CapabilitiesT>();
  wire::FrameT frame = frame_with(std::move(hello));
  frame.message_id = 1;
  return *build_frame(frame);
}

// Speaks TCP and nothing else that anybody expects.
void send_noise(const std::string& endpoint, std::mt19937& random) {
  const auto port = static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(file, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    std::string noise(1 + random() % 2000, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    if (random() % 2 == 0) noise.replace(0, 10, std::string("\xff\0\0\0\0\0\0\0\x01\x7f", 10));
    static_cast<void>(::send(file, noise.data(), noise.size(), MSG_NOSIGNAL));
  }
  ::close(file);
}

// An allowed key whose owner has gone mad.
class MadAgent {
 public:
  MadAgent(const Federation& federation, const KeyPair& keys, std::string id) : id_(std::move(id)) {
    spoke_ = *open_spoke({.endpoint = federation.endpoint(),
                          .keys = keys,
                          .hub = federation.keys_of_coordinator().public_key});
  }

  void rave(std::mt19937& random) {
    const SystemClock clock;
    Result<std::optional<LinkEvent>> event =
        spoke_->receive(clock.now() + std::chrono::milliseconds(1));
    ASSERT_TRUE(event.ok()) << event.status().text();
    if (*event) learn(**event);
    if (connection_ == 0) return;
    Bytes frame = known_[random() % known_.size()];
    const auto changes = random() % 5;  // none: a replay
    for (auto i = changes; i > 0; --i) {
      frame[random() % frame.size()] = static_cast<std::uint8_t>(random());
    }
    if (random() % 8 == 0) frame.resize(1 + random() % frame.size());
    Bytes payload(random() % 4 == 0 ? random() % 5000 : 0);
    std::memset(payload.data(), 7, payload.size());
    ignore_error(spoke_->send(connection_, std::move(frame), std::move(payload)));
    ++sent_;
  }
  std::uint64_t sent() const { return sent_; }

 private:
  // What the coordinator says makes good material too.
  void learn(const LinkEvent& event) {
    if (const auto* made = std::get_if<Connected>(&event)) connection_ = made->connection;
    if (std::holds_alternative<Disconnected>(event)) connection_ = 0;
    const auto* received = std::get_if<Received>(&event);
    if (received && known_.size() < 64) known_.push_back(received->frame);
  }

  std::string id_;
  std::unique_ptr<Transport> spoke_;
  ConnectionId connection_ = 0;
  std::vector<Bytes> known_ = {a_hello(id_), a_hello("agent-0"), Bytes(64, 0x55)};
  std::uint64_t sent_ = 0;
};

TEST(BadInput, RandomAndMutatedFramesAtThePortDoNotDisturbTheAgents) {
  Federation federation({.rounds = 250, .agent_settings = {"trainer.train_ms=10"}});
  const KeyPair keys = *make_key_pair();
  ASSERT_TRUE(
      allow_in_file(federation.path("agents.allow"), {.id = "mad", .key = keys.public_key}).ok());
  federation.start_all();
  ASSERT_TRUE(federation.committed(1));
  MadAgent mad(federation, keys, "mad");
  std::mt19937 random(1);
  for (int i = 0; i < 1'000'000 && federation.coordinator().running() &&
                  federation.coordinator().lines_with({"every job is done"}).empty();
       ++i) {
    for (int j = 0; j < 200; ++j) ASSERT_NO_FATAL_FAILURE(mad.rave(random));
    ASSERT_NO_FATAL_FAILURE(send_noise(federation.endpoint(), random));
  }
  EXPECT_GT(mad.sent(), 1000u);
  RecordProperty("frames_sent", std::to_string(mad.sent()));
  EXPECT_FALSE(federation.coordinator().lines_with({"frame_refused"}).empty());
  federation.expect_everybody_ends();
  federation.expect_sound();
}

// --- a full disk
// -----------------------------------------------------------------------------------------------

TEST(BadInput, AFullDiskIsToldAndTheJobGoesOnOnceThereIsRoom) {
  const std::string disk =
      std::filesystem::temp_directory_path() / ("tributary-disk-" + std::to_string(::getpid()));
  std::filesystem::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=8m") != 0) {
    std::filesystem::remove(disk);
    GTEST_SKIP() << "a small disk needs to be mounted: " << std::strerror(errno);
  }
  {
    Federation federation({.rounds = 30,
                           .agent_settings = {"trainer.train_ms=20"},
                           .coordinator_journal_folder = disk});
    federation.start_all();
    ASSERT_TRUE(federation.committed(2));
    {
      std::ofstream filler(disk + "/filler", std::ios::binary);
      const std::string block(4096, 'x');
      while (filler.write(block.data(), 4096).flush()) {
      }
    }
    EXPECT_TRUE(federation.coordinator().logs({"store_failed"}));
    std::filesystem::remove(disk + "/filler");
    federation.expect_everybody_ends();
    federation.expect_sound();
  }
  ::umount(disk.c_str());
  std::filesystem::remove(disk);
}

}  // namespace
}  // namespace tributary::end_to_end
