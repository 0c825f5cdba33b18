// Random bytes, almost valid handshakes and mutated frames at the open port, while agents train.
//
// Each test takes a few seconds; TRIBUTARY_FUZZ_S=60 makes it a minute (docs/run.md).
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/sanitized_testing.h"
#include "core/net/access/allow_list.h"
#include "tests/end_to_end/federation/federation.h"
#include "tests/end_to_end/federation/guest.h"
#include "tests/end_to_end/federation/tcp.h"

namespace tributary::end_to_end {
namespace {

using Random = std::mt19937_64;

// Duration of the fuzzing; at least 1 s.
std::chrono::seconds fuzz_for() {
  const char* const text = std::getenv("TRIBUTARY_FUZZ_S");
  return std::chrono::seconds(text ? std::max(1, std::atoi(text)) : 5);
}

void change_some(std::string& bytes, Random& random) {
  for (auto changes = random() % 4; changes > 0; --changes) {
    bytes[random() % bytes.size()] = static_cast<char>(random());
  }
}

std::string noise(std::size_t size, Random& random) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// --- without a key: TCP --------------------------------------------------------------------------

// The greeting of ZMTP 3.1.
std::string greeting(std::string mechanism) {
  std::string bytes("\xff\0\0\0\0\0\0\0\x01\x7f\x03\x01", 12);
  mechanism.resize(20);
  bytes += mechanism;
  bytes.resize(64);
  return bytes;
}

// A short frame of ZMTP 3.1: flags, one byte of length, body.
std::string zmtp_frame(char flags, const std::string& body) {
  return {std::string(1, flags) + static_cast<char>(body.size()) + body};
}

// Returns anything from random bytes to an almost valid handshake.
std::string opening(Random& random) {
  switch (random() % 4) {
    case 0:
      return noise(1 + random() % 2000, random);
    case 1:
      return greeting("NULL") +
             zmtp_frame(4, std::string("\5READY\13Socket-Type\0\0\0\6DEALER", 27)) +
             zmtp_frame(0, noise(random() % 200, random));
    case 2:
      return greeting("CURVE") + zmtp_frame(4, "\5HELLO\1" + noise(193, random));
    default:
      return greeting(noise(20, random)) + noise(random() % 300, random);
  }
}

// Opens a TCP connection, sends garbage and closes it.
void call_and_babble(std::uint16_t port, Random& random) {
  const int file = dial(port);
  if (file < 0) return;  // the coordinator is busy; the next attempt continues
  std::string bytes = opening(random);
  change_some(bytes, random);
  if (random() % 4 == 0) bytes.resize(1 + random() % bytes.size());
  static_cast<void>(::send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  ::close(file);
}

// --- with a key: frames --------------------------------------------------------------------------

// A client with an allowed key that sends nonsense. It mutates messages of the coordinator too.
class MadAgent {
 public:
  MadAgent(const Federation& federation, const KeyPair& keys, bool encrypted)
      : guest_(federation, keys, encrypted) {}

  void rave(Random& random) {
    if (!guest_.connected() && !guest_.connect()) return;
    if (std::optional<Bytes> message = guest_.overhear()) {
      if (session_of(*message) != 0) session_ = session_of(*message);
      // Keeps a bounded sample of real messages to mutate.
      known_.size() < 64 ? known_.push_back(std::move(*message))
                         : std::swap(known_[random() % 64], *message);
    }
    // Batches keep the guest's queue busy without waiting for answers.
    for (int i = 0; i < 50; ++i) {
      if (!guest_.send(mutated(random), Bytes(random() % 4 == 0 ? random() % 5000 : 0))) return;
      ++sent_;
    }
  }
  std::uint64_t sent() const { return sent_; }

 private:
  static std::uint64_t session_of(const Bytes& bytes) {
    Bytes aligned;
    const Result<const wire::Frame*> frame = open_frame(bytes, aligned);
    return frame.ok() ? (*frame)->session() : 0;
  }

  // Includes frames that are valid in its own session, so that the code behind the checks is
  // reached.
  Bytes material(Random& random) const {
    const Bytes payload(16, 7);
    switch (random() % 8) {
      case 0:
        return bytes_of_frame(frame_with(hello_of("mad")), 0, 1 + random() % 100);
      case 1:
        return bytes_of_frame(frame_with(hello_of("agent-0")), 0, 1 + random() % 100);
      case 2:
        return update_of({.job = 1 + random() % 4, .round = 1 + random() % 100, .epoch = 1},
                         session_, payload);
      case 3: {
        wire::HeartbeatT beat;
        beat.count = random();
        beat.activity = wire::Activity::waiting;
        beat.echo_count = random() % 2;
        beat.echo_sent_at_ns = random();
        return bytes_of_frame(frame_with(beat), session_);
      }
      case 4: {
        wire::TransferFetchT fetch;
        fetch.transfer = random();
        fetch.from = random() % 4'096;
        return bytes_of_frame(frame_with(fetch), session_);
      }
      case 5:
        return Bytes(1 + random() % 200, static_cast<std::uint8_t>(random()));
      default:
        return known_.empty() ? Bytes(64, 0x55) : known_[random() % known_.size()];
    }
  }

  Bytes mutated(Random& random) const {
    Bytes frame = material(random);
    for (auto changes = random() % 5; changes > 0; --changes) {  // 0 changes: a replay
      frame[random() % frame.size()] = static_cast<std::uint8_t>(random());
    }
    if (random() % 8 == 0) frame.resize(1 + random() % frame.size());
    return frame;
  }

  Guest guest_;
  std::uint64_t session_ = 1;
  std::vector<Bytes> known_;
  std::uint64_t sent_ = 0;
};

// --- the federation meanwhile --------------------------------------------------------------------

std::uint64_t resident_bytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6)) << 10;
  }
  return 0;
}

// The address sanitizer keeps up to 256 MiB of freed memory.
constexpr std::uint64_t kMoreBytesMax = kMemoryIsChecked ? 512u << 20 : 64u << 20;

class PortFuzz : public ::testing::TestWithParam<bool> {};

TEST_P(PortFuzz, TheCoordinatorContinuesToServeItsAgents) {
  const bool encrypted = GetParam();
  const auto seconds = static_cast<std::uint64_t>(fuzz_for().count());
  // The job must outlast the fuzzing, but must not have more rounds than a journal keeps.
  const std::uint64_t rounds_in_all = std::min<std::uint64_t>(10 * seconds, 200);
  Federation federation(
      {.rounds = rounds_in_all,
       .coordinator_settings = {"metrics.listen=127.0.0.1:0", "log.level=info"},
       .agent_settings = {"trainer.train_ms=" + std::to_string(1000 * seconds / rounds_in_all)},
       .encrypted = encrypted});
  const KeyPair keys = *make_key_pair();
  ASSERT_TRUE(
      allow_in_file(federation.path("agents.allow"), {.id = "mad", .key = keys.public_key}).ok());
  federation.start_all();
  ASSERT_TRUE(federation.committed(1));
  const std::uint64_t bytes_before = resident_bytes(federation.coordinator().pid());

  auto mad = std::make_unique<MadAgent>(federation, keys, encrypted);
  Random random(1);
  std::uint64_t calls = 0;
  const auto until = std::chrono::steady_clock::now() + fuzz_for();
  while (std::chrono::steady_clock::now() < until && federation.coordinator().running()) {
    ASSERT_NO_FATAL_FAILURE(mad->rave(random));
    call_and_babble(port_of(federation.endpoint()), random);
    ++calls;
  }
  ASSERT_TRUE(federation.coordinator().running());
  const std::uint64_t bytes_after = resident_bytes(federation.coordinator().pid());
  const std::size_t rounds = federation.coordinator().lines_with({"round committed"}).size();
  RecordProperty("frames", std::to_string(mad->sent()));
  RecordProperty("calls", std::to_string(calls));
  RecordProperty("rounds_meanwhile", std::to_string(rounds));
  RecordProperty("bytes_more", std::to_string(bytes_after - bytes_before));
  EXPECT_GT(mad->sent(), 1000u);
  EXPECT_GT(calls, 20u);
  EXPECT_GT(rounds, 1u);
  EXPECT_LT(bytes_after, bytes_before + kMoreBytesMax);
  EXPECT_GT(
      federation.metric("tributary_notes_total{name=\"frame_refused\",reason=\"corrupt_data\"}"),
      100);
  // The log must be limited per source, however many frames are refused.
  EXPECT_LT(federation.coordinator().lines_with({"frame_refused"}).size(), 200 * (1 + seconds / 60))
      << "it fills the log";
  mad.reset();
  federation.expect_all_end(kPatience + 4 * fuzz_for());
  federation.expect_sound();
}

INSTANTIATE_TEST_SUITE_P(Port, PortFuzz, ::testing::Values(true, false),
                         [](const auto& with) { return with.param ? "encrypted" : "open"; });

}  // namespace
}  // namespace tributary::end_to_end
