#include "core/net/access/allow_list.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>

#include "core/base/blanks.h"
#include "core/base/files/file.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

constexpr std::string_view kBlanks = " \t\r";
// Room for 16 Ki members with an id, a key and a comment of 130 bytes.
constexpr std::uint64_t kAllowListBytesMax = 4u << 20;
constexpr std::size_t kCommentBytesMax = 128;
constexpr std::string_view kHeader = "# id, public key, comment\n";

Status bad_line(std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = "allow-list",
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "see 'tributary keys allow --help'"});
}

// Removes the first word from `text` and returns it.
std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

Status check_comment(std::string_view comment) {
  const bool clean = std::ranges::none_of(
      comment, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (clean && comment.size() <= kCommentBytesMax) return {};
  return Status(StatusCode::invalid_argument,
                {.what = "comment",
                 .expected = fmt::format("at most {} bytes on one line", kCommentBytesMax),
                 .got = fmt::format("{} bytes", comment.size())});
}

// Returns nothing for an empty line or a comment.
// A line is ID KEY COMMENT, separated by blanks. Errors do not repeat the line: a secret key may
// have been pasted into it by mistake.
Result<std::optional<AllowedAgent>> parse_line(std::string_view line) {
  line = without_blanks(line);
  if (line.empty() || line[0] == '#') return std::optional<AllowedAgent>();
  AllowedAgent agent;
  agent.id = next_word(line);
  const std::string_view key = next_word(line);
  agent.comment = without_blanks(line);
  if (!check_agent_id(agent.id).ok()) return bad_line("an agent's id", "something else");
  Result<PublicKey> parsed = parse_public_key(key);
  if (!parsed.ok()) {
    return bad_line("a public key of 40 characters after the id",
                    fmt::format("{} characters", key.size()));
  }
  agent.key = *parsed;
  if (!check_comment(agent.comment).ok()) return bad_line("a short comment", "a long one");
  return std::optional<AllowedAgent>(std::move(agent));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    lines.push_back(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return lines;
}

// A user who can write the list can let an agent in. A missing file is reported when it is read.
Status refuse_if_others_can_write(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || (about.st_mode & 022) == 0) return {};
  return Status(StatusCode::invalid_argument,
                {.what = path,
                 .expected = "an allow-list that only its owner can write",
                 .got = fmt::format("mode {:04o}", about.st_mode & 07777),
                 .remedy = "run chmod go-w on it, and check its entries"});
}

Result<std::string> read_text(const std::string& path) {
  TRIBUTARY_TRY(refuse_if_others_can_write(path));
  TRIBUTARY_ASSIGN(const Bytes file, read_file(path, kAllowListBytesMax));
  return std::string(file.begin(), file.end());
}

// Locks the folder of a file while the file is read, changed and written. The file itself cannot be
// locked, because each change replaces it.
class FolderLock {
 public:
  // Waits for the lock. flock() is released when the file is closed, also if the process crashes.
  static Result<FolderLock> of(const std::string& path) {
    const std::string parent = std::filesystem::path(path).parent_path();
    const std::string folder(parent.empty() ? "." : parent.c_str());
    const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    FolderLock lock(file);
    int locked = -1;
    do {
      locked = file < 0 ? -1 : ::flock(file, LOCK_EX);
    } while (locked != 0 && file >= 0 && errno == EINTR);
    if (locked == 0) return lock;
    const int error = errno;
    return Status(error == ENOENT ? StatusCode::not_found : StatusCode::io_error,
                  {.what = folder,
                   .expected = "a folder that can be locked",
                   .got = std::generic_category().message(error)});
  }
  FolderLock(FolderLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  explicit FolderLock(int file) : file_(file) {}
  int file_;
};

Status already_there(std::string what, std::string remedy) {
  return Status(StatusCode::already_exists, {.what = std::move(what),
                                             .expected = "one that is not on the list yet",
                                             .got = "one that is on it",
                                             .remedy = std::move(remedy)});
}

}  // namespace

Status check_agent_id(std::string_view id) {
  const bool characters = std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  });
  // A leading dash would turn the id into an option, and a leading dot into a hidden file or a
  // path.
  if (characters && !id.empty() && id.size() <= wire::kAgentIdBytesMax && id[0] != '.' &&
      id[0] != '-') {
    return {};
  }
  return Status(
      StatusCode::invalid_argument,
      {.what = "agent id",
       .expected = fmt::format("1 to {} letters, digits, dots, dashes and underscores, "
                               "the first no dot or dash",
                               wire::kAgentIdBytesMax),
       .got = fmt::format("{} bytes with other characters or another length", id.size())});
}

// Ids and keys must both be unique: an id names the agent in the journal, and a key authenticates
// exactly one id.
Result<std::vector<AllowedAgent>> parse_allow_list(std::string_view text) {
  std::vector<AllowedAgent> agents;
  std::set<std::string> ids;
  std::set<PublicKey> keys;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    Result<std::optional<AllowedAgent>> agent = parse_line(line);
    if (!agent.ok()) return std::move(agent).status().at(fmt::format("line {}", number));
    if (!agent->has_value()) continue;
    if (!ids.insert((*agent)->id).second || !keys.insert((*agent)->key).second) {
      return bad_line("every id and every key once", "one twice")
          .at(fmt::format("line {}", number));
    }
    if (agents.size() == wire::kMembersMax) {
      return Status(StatusCode::resource_exhausted,
                    {.what = "allow-list",
                     .expected = fmt::format("at most {} agents", wire::kMembersMax),
                     .got = "more"});
    }
    agents.push_back(std::move(**agent));
  }
  return agents;
}

Result<std::vector<AllowedAgent>> read_allow_file(const std::string& path) {
  TRIBUTARY_ASSIGN(const std::string text, read_text(path));
  Result<std::vector<AllowedAgent>> agents = parse_allow_list(text);
  if (!agents.ok()) return std::move(agents).status().at(path);
  return agents;
}

// Comments and the order of lines are kept, because people edit the file too. The new text is
// parsed before it is written, so a list that cannot be read is never left behind.
Status allow_in_file(const std::string& path, const AllowedAgent& agent) {
  TRIBUTARY_TRY(check_agent_id(agent.id));
  TRIBUTARY_TRY(check_comment(agent.comment));
  TRIBUTARY_ASSIGN(const FolderLock lock, FolderLock::of(path));
  std::string text(kHeader);
  Result<std::string> before = read_text(path);
  if (before.ok()) {
    text = std::move(*before);
  } else if (before.status().code() != StatusCode::not_found) {
    return std::move(before).status();
  }
  Result<std::vector<AllowedAgent>> agents = parse_allow_list(text);
  if (!agents.ok()) return std::move(agents).status().at(path);
  for (const AllowedAgent& each : *agents) {
    if (each.id == agent.id) {
      return already_there(fmt::format("agent '{}'", agent.id), "revoke it first");
    }
    if (each.key == agent.key) {
      return already_there("this public key", fmt::format("it is agent '{}'", each.id));
    }
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += fmt::format("{} {}{}{}\n", agent.id, key_text(agent.key),
                      agent.comment.empty() ? "" : " ", agent.comment);
  TRIBUTARY_TRY(parse_allow_list(text).status());  // enforces wire::kMembersMax
  return write_file_atomically(path, bytes_of(text));
}

Result<AllowedAgent> revoke_in_file(const std::string& path, std::string_view id) {
  TRIBUTARY_ASSIGN(const FolderLock lock, FolderLock::of(path));
  TRIBUTARY_ASSIGN(const std::string text, read_text(path));
  TRIBUTARY_ASSIGN(const std::vector<AllowedAgent> agents, read_allow_file(path));
  const auto found = std::ranges::find(agents, id, &AllowedAgent::id);
  if (found == agents.end()) {
    return Status(StatusCode::not_found,
                  {.what = fmt::format("agent '{}'", id),
                   .expected = "an agent on the list",
                   .got = "no agent with this id",
                   .remedy = "list the agents with 'tributary keys show --list'"});
  }
  std::string kept;
  for (const std::string_view line : lines_of(text)) {
    const Result<std::optional<AllowedAgent>> agent = parse_line(line);
    if (agent.ok() && agent->has_value() && (*agent)->id == id) continue;
    kept += line;
    kept += '\n';
  }
  TRIBUTARY_TRY(write_file_atomically(path, bytes_of(kept)));
  return *found;
}

// The map is built before the lock is taken, so that a reload does not make the gate wait.
void AllowList::replace(const std::vector<AllowedAgent>& agents) {
  std::unordered_map<PublicKey, std::string, PublicKeyHash> ids;
  for (const AllowedAgent& agent : agents) ids.emplace(agent.key, agent.id);
  const std::lock_guard lock(mutex_);
  ids_ = std::move(ids);
}

void AllowList::allow(const PublicKey& key, std::string id) {
  const std::lock_guard lock(mutex_);
  ids_.insert_or_assign(key, std::move(id));
}

void AllowList::revoke(const PublicKey& key) {
  const std::lock_guard lock(mutex_);
  ids_.erase(key);
}

bool AllowList::allows(const PublicKey& key) const {
  const std::lock_guard lock(mutex_);
  return ids_.contains(key);
}

std::string AllowList::id_of(const PublicKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = ids_.find(key);
  return found == ids_.end() ? std::string() : found->second;
}

std::vector<std::string> AllowList::ids() const {
  std::vector<std::string> ids;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, id] : ids_) ids.push_back(id);
  }
  std::ranges::sort(ids);
  return ids;
}

std::size_t AllowList::size() const {
  const std::lock_guard lock(mutex_);
  return ids_.size();
}

}  // namespace tributary
