#include "core/run/run_follower.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/net/zmq/control.h"
#include "core/run/run_reader.h"
#include "core/store/coordinator/run_file.h"

namespace tributary {
namespace {

// Wait for an operator's answer; a change may need a sync to a slow disk.
constexpr std::chrono::seconds kOperatorPatience{30};
constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

Status no_run(StatusCode code, const std::string& path, std::string expected, std::string got,
              std::string remedy) {
  return Status(code, {.what = fmt::format("run file '{}'", path),
                       .expected = std::move(expected),
                       .got = std::move(got),
                       .remedy = std::move(remedy)});
}

// Checks the magic number of SQLite files. A file without it is no run, and SQLite need not open
// it.
Status check_head(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kSqliteMagic.size()> head = {};
  file.read(head.data(), head.size());
  if (file.gcount() == static_cast<std::streamsize>(head.size()) &&
      std::string_view(head.data(), head.size()) == kSqliteMagic) {
    return {};
  }
  if (!file.is_open()) {
    return no_run(StatusCode::io_error, path, "a file that can be read",
                  std::generic_category().message(errno), "check its permissions");
  }
  if (file.gcount() == 0) {
    return no_run(StatusCode::unavailable, path, "a coordinator's journal", "an empty file",
                  "start the coordinator that writes it");
  }
  return no_run(StatusCode::mismatch, path, "a coordinator's journal",
                "a file that is not a database", "name the run's file, usually run.db");
}

}  // namespace

RunFollower::RunFollower(RunFollowerOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {}

RunFollower::~RunFollower() = default;

// Identifies the file now at the path.
Result<RunFollower::Place> RunFollower::place() const {
  struct stat found = {};
  if (::stat(options_.path.c_str(), &found) != 0) {
    const int error = errno;
    const bool is_gone = error == ENOENT || error == ENOTDIR;
    return no_run(is_gone ? StatusCode::not_found : StatusCode::io_error, options_.path,
                  "a coordinator's journal", std::generic_category().message(error),
                  is_gone ? "check the name; the file is read as soon as it exists" : "");
  }
  if (!S_ISREG(found.st_mode)) {
    return no_run(StatusCode::mismatch, options_.path, "a coordinator's journal",
                  S_ISDIR(found.st_mode) ? "a folder" : "something that is not a file",
                  "name the run's file, usually run.db");
  }
  return Place{.device = found.st_dev, .file = found.st_ino};
}

// Collects several tables in one portion, until the portion is full, the overview is complete or
// nothing is left.
Result<bool> RunFollower::step(RunChanges& changes) {
  if (!trouble_.ok() && clock_.now() < retry_at_) return trouble_;
  for (;;) {
    Result<bool> more = step_now(changes);
    at_end_ = more.ok() && !*more;
    trouble_ = more.status();
    if (!more.ok()) {
      retry_at_ = clock_.now() + options_.retry_after;
      return more;
    }
    const std::size_t rows = changes.rounds.size() + changes.plans.size() + changes.metrics.size() +
                             changes.reports.size() + changes.links.size() + changes.events.size();
    if (!*more || changes.overview_read || rows >= options_.rows_max) return more;
  }
}

// A file that disappears stays open as long as no other file takes its place. The same file may
// return, and then nothing has to be read again.
Result<bool> RunFollower::step_now(RunChanges& changes) {
  TRIBUTARY_ASSIGN(const Place now, place());
  if (reader_ && now != place_) forget();
  if (!connected_) TRIBUTARY_TRY(connect(now));
  if (std::exchange(begins_anew_, false)) {
    changes = {};
    changes.begins_anew = true;
  }
  Result<bool> more = reader_->step(changes);
  connected_ = more.ok();
  return more;
}

void RunFollower::forget() {
  reader_.reset();
  connected_ = false;
  begins_anew_ = true;
}

// A reader that exists continues with the new connection if it is still the same run.
Status RunFollower::connect(const Place& now) {
  if (!options_.own_journal) TRIBUTARY_TRY(check_head(options_.path));
  TRIBUTARY_ASSIGN(std::unique_ptr<RunFile> file, RunFile::open(options_.path));
  if (reader_) {
    TRIBUTARY_ASSIGN(const bool same, reader_->reconnect(file));
    if (!same) forget();
  }
  if (!reader_) {
    reader_ = std::make_unique<RunReader>(
        std::move(file),
        RunReader::Portion{.rows_max = options_.rows_max, .events_max = options_.events_max});
  }
  place_ = now;
  connected_ = true;
  return {};
}

// It fails while the file cannot be read, with the same error as step().
Result<RoundDetail> RunFollower::round_detail(std::uint64_t job, std::uint64_t round) {
  if (!connected_) {
    if (!trouble_.ok()) return trouble_;
    return no_run(StatusCode::unavailable, options_.path, "a run that has been read", "none yet",
                  "try again when the run exists");
  }
  return read_round_detail(reader_->file(), job, round);
}

Result<std::string> RunFollower::ask_operator(std::string_view question) {
  Result<std::string> answer =
      ask_daemon(control_path(options_.path), question, kOperatorPatience, &woken_);
  if (answer.status().code() == StatusCode::cancelled) woken_ = false;
  return answer;
}

}  // namespace tributary
