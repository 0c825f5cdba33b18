#include "cli/child_coordinator.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/process.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/link/allow_list.h"

namespace tributary {
namespace {

constexpr std::chrono::seconds kStartMax{30};

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
  process_.reset();  // nothing of it is worth keeping
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Status ChildCoordinator::write_files(const ChildCoordinatorOptions& options) {
  std::string name = (std::filesystem::temp_directory_path() / "tributary-load-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return Status(StatusCode::io_error, {.what = name,
                                         .expected = "a new folder",
                                         .got = std::generic_category().message(errno),
                                         .remedy = {}});
  }
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
  std::vector<std::string> words = {options.program.empty()
                                        ? find_own_program("coordinator", "tributary-coordinator")
                                        : options.program};
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
  TRIBUTARY_ASSIGN(process_, ChildProcess::start(std::move(words), (folder_ / "log").string()));
  return {};
}

Status ChildCoordinator::wait_until_it_listens() {
  const SystemClock clock;
  const auto give_up_at = clock.now() + kStartMax;
  while (clock.now() < give_up_at && stop_signal() == 0) {
    TRIBUTARY_TRY(check());
    const std::string log = process_->log_text();
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
                                                .got = process_->last_words(),
                                                .remedy = {}});
}

}  // namespace tributary
