#include "cli/process/child_coordinator.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <system_error>
#include <utility>

#include "core/base/files/file.h"
#include "core/net/access/allow_list.h"

namespace tributary {
Result<std::unique_ptr<ChildCoordinator>> ChildCoordinator::start(
    const ChildCoordinatorOptions& options) {
  TRIBUTARY_ASSIGN(KeyPair keys, make_key_pair());
  std::unique_ptr<ChildCoordinator> child(new ChildCoordinator(std::move(keys)));
  TRIBUTARY_TRY(child->write_files(options));
  TRIBUTARY_TRY(child->spawn(options));
  TRIBUTARY_ASSIGN(child->endpoint_, wait_for_endpoint(*child->process_));
  return child;
}

ChildCoordinator::~ChildCoordinator() {
  process_.reset();  // SIGKILL is fine: nothing in the folder is kept
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

// Everything in the folder belongs to this run. The agents get keys of their own, because a
// coordinator accepts each identity only once.
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
  // Agents are named load-0, load-1 and so on.
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
  // A free port; the coordinator logs which one it got.
  set("link.endpoint=tcp://127.0.0.1:*");
  set("link.key_file=" + (folder_ / "key").string());
  set("link.allow_file=" + (folder_ / "allowed").string());
  set(options.encrypted ? "link.encrypted=true" : "link.encrypted=false");
  set("journal.file=" + (folder_ / "journal.db").string());
  // The caller's settings come last, because a later assignment overrides an earlier one.
  for (const std::string& setting : options.settings) set(setting);
  TRIBUTARY_ASSIGN(process_, ChildProcess::start(std::move(words), (folder_ / "log").string()));
  return {};
}

}  // namespace tributary
