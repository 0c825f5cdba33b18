#include "cli/child_coordinator.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/process.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/link/allow_list.h"

extern char** environ;

namespace tributary {
namespace {

constexpr std::string_view kProgram = "tributary-coordinator";
constexpr std::uint64_t kLogBytesMax = 64u << 20;
constexpr std::size_t kLastWordsBytes = 600;
constexpr std::chrono::seconds kStartMax{30};

Status system_error(std::string what, int error) {
  return Status(StatusCode::io_error, {.what = std::move(what),
                                       .expected = "the system to do it",
                                       .got = std::generic_category().message(error),
                                       .remedy = {}});
}

// Beside this program, or where the build leaves it.
std::string find_program() {
  std::error_code none;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", none);
  for (const auto& place : {own.parent_path(), own.parent_path().parent_path() / "coordinator"}) {
    const std::filesystem::path program = place / kProgram;
    if (std::filesystem::exists(program, none)) return program.string();
  }
  return std::string(kProgram);
}

std::string log_text(const std::filesystem::path& folder) {
  const Result<Bytes> bytes = read_file((folder / "log").string(), kLogBytesMax);
  if (!bytes.ok()) return {};
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

}  // namespace

Result<std::unique_ptr<ChildCoordinator>> ChildCoordinator::start(
    const ChildCoordinatorOptions& options) {
  TRIBUTARY_ASSIGN(KeyPair keys, make_key_pair());
  std::unique_ptr<ChildCoordinator> child(new ChildCoordinator(std::move(keys)));
  TRIBUTARY_TRY(child->write_files(options));
  TRIBUTARY_TRY(child->spawn(options));
  TRIBUTARY_TRY(child->wait_until_it_listens());
  return child;
}

ChildCoordinator::~ChildCoordinator() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);  // nothing of it is worth keeping
    ::waitpid(process_, nullptr, 0);
  }
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Status ChildCoordinator::write_files(const ChildCoordinatorOptions& options) {
  std::string name = (std::filesystem::temp_directory_path() / "tributary-load-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return system_error(name, errno);
  folder_ = name;
  TRIBUTARY_TRY(write_key_pair((folder_ / "key").string(), keys_));
  std::string allowed;
  for (std::uint32_t i = 0; i < options.agents; ++i) {
    TRIBUTARY_ASSIGN(KeyPair keys, make_key_pair());
    allowed += fmt::format("load-{} {}\n", i, key_text(keys.public_key));
    agent_keys_.push_back(std::move(keys));
  }
  return write_file_atomically((folder_ / "allowed").string(), bytes_of(allowed));
}

Status ChildCoordinator::spawn(const ChildCoordinatorOptions& options) {
  std::vector<std::string> words = {options.program.empty() ? find_program() : options.program};
  const auto set = [&](const std::string& setting) {
    words.emplace_back("--set");
    words.push_back(setting);
  };
  set("link.endpoint=tcp://127.0.0.1:*");
  set("link.key_file=" + (folder_ / "key").string());
  set("link.allow_file=" + (folder_ / "allowed").string());
  set(options.encrypted ? "link.encrypted=true" : "link.encrypted=false");
  set("journal.file=" + (folder_ / "journal.db").string());
  for (const std::string& setting : options.settings) set(setting);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  const std::string log = (folder_ / "log").string();
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const int error =
      ::posix_spawnp(&process_, arguments[0], &files, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (error == 0) return {};
  process_ = -1;
  return system_error(words[0], error);
}

Status ChildCoordinator::wait_until_it_listens() {
  const SystemClock clock;
  const auto give_up_at = clock.now() + kStartMax;
  while (clock.now() < give_up_at && stop_signal() == 0) {
    TRIBUTARY_TRY(check());
    const std::string log = log_text(folder_);
    const std::size_t at = log.find("endpoint=");
    if (at != log.npos && log.find('\n', at) != log.npos) {
      const std::size_t begin = log.find("tcp://", at);
      endpoint_ = log.substr(begin, log.find_first_of("\" \n", begin) - begin);
      return {};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (stop_signal() != 0) return Status(StatusCode::cancelled, {.what = "the coordinator's start"});
  return Status(StatusCode::deadline_exceeded, {.what = "the coordinator's start",
                                                .expected = "a port within 30 s",
                                                .got = last_words(),
                                                .remedy = {}});
}

Status ChildCoordinator::check() {
  int status = 0;
  if (process_ < 0 || ::waitpid(process_, &status, WNOHANG) != process_) return {};
  process_ = -1;
  return Status(StatusCode::unavailable, {.what = "the coordinator",
                                          .expected = "it to go on",
                                          .got = "it ended: " + last_words(),
                                          .remedy = {}});
}

std::string ChildCoordinator::last_words() const {
  const std::string log = log_text(folder_);
  return log.size() <= kLastWordsBytes ? log : log.substr(log.size() - kLastWordsBytes);
}

std::uint64_t ChildCoordinator::peak_memory_bytes() const {
  std::ifstream file(fmt::format("/proc/{}/status", process_));
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string key;
    std::uint64_t kib = 0;
    if (words >> key >> kib && key == "VmHWM:") return kib * 1024;
  }
  return 0;
}

}  // namespace tributary
