#include "tools/lab/lab_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "cli/json.h"
#include "cli/process/process.h"
#include "core/base/files/file.h"
#include "core/lab/lab_names.h"
#include "tools/lab/lab_kernel.h"

namespace tributary {
namespace {

namespace fs = std::filesystem;

// The folder is emptied when the machine starts, like the namespaces that it describes.
constexpr const char* kFolder = "/run/tributary/lab";
constexpr std::uint64_t kStateBytesMax = 1u << 20;

std::string state_path(const std::string& lab) { return fmt::format("{}/{}.json", kFolder, lab); }

Status folder_error(int error) {
  return Status(StatusCode::io_error, {.what = kFolder,
                                       .expected = "a writable folder",
                                       .got = std::generic_category().message(error),
                                       .remedy = {}});
}

}  // namespace

Result<LabLock> LabLock::take() {
  std::error_code error;
  fs::create_directories(kFolder, error);
  if (error) return folder_error(error.value());
  // The tools that this process starts inherit the lock. If this process is killed, another one
  // waits until the last tool has ended.
  const int file = ::open(kFolder, O_RDONLY | O_DIRECTORY);
  if (file < 0) return folder_error(errno);
  LabLock lock(file);
  while (::flock(file, LOCK_EX) != 0) {
    if (errno != EINTR) return folder_error(errno);
    if (stop_signal() != 0)
      return Status(StatusCode::cancelled, {.what = "waiting for other labs"});
  }
  return lock;
}

LabLock::LabLock(LabLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

LabLock::~LabLock() {
  if (file_ >= 0) ::close(file_);
}

std::string lab_counts_path(const std::string& lab) {
  return fmt::format("{}/{}.counts", kFolder, lab);
}

// Written last, so a description means a complete lab.
Status write_lab_state(const LabState& state) {
  const nlohmann::ordered_json json = {{"name", state.name},
                                       {"mtu_bytes", state.mtu_bytes},
                                       {"links", state.links},
                                       {"congestion_control", state.congestion_control},
                                       {"relay", state.relay}};
  return write_file_atomically(state_path(state.name), bytes_of(json_text(json)));
}

// Empty for a missing or unreadable description; the lab then counts as the remains of a crash.
std::optional<LabState> read_lab_state(const std::string& lab) {
  const Result<Bytes> bytes = read_file(state_path(lab), kStateBytesMax);
  if (!bytes.ok()) return std::nullopt;
  const auto json = nlohmann::json::parse(bytes->begin(), bytes->end(), nullptr, false);
  if (!json.is_object()) return std::nullopt;
  LabState state;
  state.name = lab;
  try {
    state.mtu_bytes = json.at("mtu_bytes").get<std::uint32_t>();
    state.links = json.at("links").get<std::vector<std::string>>();
    state.congestion_control = json.at("congestion_control").get<std::string>();
    state.relay = json.at("relay").get<pid_t>();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  return state;
}

// A lab without a description may still have counts.
std::vector<std::string> lab_state_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(kFolder, error)) {
    std::string name = entry.path().stem().string();
    const bool ours = entry.path().extension() == ".json" || entry.path().extension() == ".counts";
    if (ours && check_lab_name(name).ok() && std::ranges::find(names, name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

void remove_lab_state(const std::string& lab) {
  std::error_code ignored;
  fs::remove(state_path(lab), ignored);
  fs::remove(lab_counts_path(lab), ignored);
}

// The relay's process id may have been reused, so it must also be in the hub's namespace.
bool relay_is_alive(const LabState& state) {
  if (state.relay == 0) return true;
  const std::vector<pid_t> there = processes_in({hub_namespace(state.name)});
  return std::ranges::find(there, state.relay) != there.end();
}

}  // namespace tributary
