// Measures the cost of durability: the journals' records compared with a plain write and fdatasync
// of the same bytes, in the folder for temporary files. The result is meaningful if that folder is
// on the disk in question.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "bench/harness/harness.h"
#include "core/store/agent/agent_journal.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/testing/folder_testing.h"
#include "core/store/testing/life_testing.h"

namespace tributary {
namespace {

using bench::Case;
using store_testing::Draws;
using store_testing::Folder;

// Two versions of all data, so that every record changes all of it.
struct Data {
  explicit Data(std::uint32_t count) : values(count), draws(count) {
    for (SharedFloats& each : floats) each = draws.floats(count);
  }

  std::uint32_t values;
  Draws draws;
  std::array<SharedFloats, 6> floats;
};

// The baseline: a plain write and fdatasync of the same bytes.
class PlainFile {
 public:
  PlainFile(std::shared_ptr<Folder> folder, std::shared_ptr<Data> data)
      : folder_(std::move(folder)),
        data_(std::move(data)),
        file_(::open((*folder_ / "plain").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {}
  ~PlainFile() { ::close(file_); }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  void write() {
    ++turn_;
    off_t place = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const FloatVector& floats = *data_->floats[2 * (turn_ % 2) + i];
      const std::size_t bytes = floats.size() * sizeof(float);
      fine_ = fine_ && ::pwrite(file_, floats.data(), bytes, place) == static_cast<ssize_t>(bytes);
      place += static_cast<off_t>(bytes);
    }
    fine_ = fine_ && ::fdatasync(file_) == 0;
  }
  Status check() const {
    return fine_ ? Status() : Status(StatusCode::io_error, {.what = "the plain file"});
  }

 private:
  std::shared_ptr<Folder> folder_;
  std::shared_ptr<Data> data_;
  int file_;
  std::size_t turn_ = 0;
  bool fine_ = true;
};

class AgentCase {
 public:
  AgentCase(std::shared_ptr<Folder> folder, std::shared_ptr<Data> data)
      : folder_(std::move(folder)), data_(std::move(data)) {
    auto opened = AgentJournal::open({.path = *folder_ / fmt::format("{}.db", data_->values)});
    status_ = opened.status();
    if (opened.ok()) journal_ = std::move(*opened);
  }

  // A commit after a contribution that did not count: model and residual are both new.
  void replica() { store_replica(data_->floats[2 + turn_ % 2]); }

  // A round: update and parts, then the commit, whose residual equals the stored parts.
  void round() {
    ContributionRecord contribution;
    contribution.id = {1, ++turn_, 1, 0};
    contribution.residual = data_->floats[2 + turn_ % 2];
    contribution.parts.push_back({.bucket = 0,
                                  .first_value = 0,
                                  .values = data_->floats[4 + turn_ % 2]->size(),
                                  .if_committed = data_->floats[4 + turn_ % 2]});
    note(contribution);
    store_replica(data_->floats[4 + turn_ % 2]);
  }

  Status check() {
    TRIBUTARY_TRY(status_);
    TRIBUTARY_ASSIGN(const AgentState state, journal_->restore());
    const bool same = state.replica && *state.replica->model == *data_->floats[turn_ % 2] &&
                      *state.replica->residual == *residual_;
    return same ? Status() : Status(StatusCode::mismatch, {.what = "what was stored"});
  }

 private:
  void store_replica(const SharedFloats& residual) {
    ReplicaRecord replica;
    replica.job = 1;
    replica.model_version = ++turn_;
    replica.model = data_->floats[turn_ % 2];
    replica.residual = residual_ = residual;
    note(replica);
  }
  void note(const AgentRecordToStore& record) {
    if (status_.ok()) status_ = journal_->store(record);
  }

  std::shared_ptr<Folder> folder_;
  std::shared_ptr<Data> data_;
  std::unique_ptr<AgentJournal> journal_;
  SharedFloats residual_;
  std::uint64_t turn_ = 0;
  Status status_;
};

// Commits with payloads of four bits per value, like THC, and a checkpoint every 64 commits.
class CoordinatorCase {
 public:
  CoordinatorCase(std::shared_ptr<Folder> folder, std::shared_ptr<Data> data, std::uint32_t agents)
      : folder_(std::move(folder)), data_(std::move(data)), agents_(agents) {
    auto payload = std::make_shared<Bytes>(data_->values / 2);
    for (std::uint8_t& byte : *payload) byte = static_cast<std::uint8_t>(data_->draws.next());
    payload_ = std::move(payload);
    auto opened = CoordinatorJournal::open(
        {.journal = {.path = *folder_ / fmt::format("run-{}-{}.db", data_->values, agents)}});
    status_ = opened.status();
    if (opened.ok()) journal_ = std::move(*opened);
    NewJobRecord job;
    job.job.job = job.checkpoint.job = 1;
    job.checkpoint.model = data_->floats[0];
    note(job);
  }

  void commit() {
    CommitRecord commit;
    commit.round.id = {1, ++round_, 1, 0};
    commit.redo.push_back({.bucket = 0, .stage = 0, .payload = payload_});
    for (std::uint32_t agent = 0; agent < agents_; ++agent) {
      commit.reports.emplace_back().id = commit.round.id;
      commit.reports.back().agent_id = fmt::format("agent-{}", agent);
    }
    if (round_ % 64 == 0) {
      commit.checkpoint.emplace();
      commit.checkpoint->job = 1;
      commit.checkpoint->model_version = round_;
      commit.checkpoint->model = data_->floats[round_ / 64 % 2];
    }
    note(commit);
  }

  Status check() {
    TRIBUTARY_TRY(status_);
    TRIBUTARY_ASSIGN(const CoordinatorState state, journal_->restore());
    const RestoredJob& job = state.jobs.front();
    const bool same = job.checkpoint.model_version + job.redo.size() == round_ &&
                      (job.redo.empty() || *job.redo.back().redo.front().payload == *payload_);
    return same ? Status() : Status(StatusCode::mismatch, {.what = "what was stored"});
  }

 private:
  void note(const CoordinatorRecord& record) {
    if (status_.ok()) status_ = journal_->store(record);
  }

  std::shared_ptr<Folder> folder_;
  std::shared_ptr<Data> data_;
  std::uint32_t agents_;
  SharedBytes payload_;
  std::unique_ptr<CoordinatorJournal> journal_;
  std::uint64_t round_ = 0;
  Status status_;
};

void add_cases(std::uint32_t values, std::string_view size, std::vector<Case>& cases) {
  auto folder = std::make_shared<Folder>();
  auto data = std::make_shared<Data>(values);
  const double bytes = values * sizeof(float);
  const std::string plain = fmt::format("write and sync two vectors of {}", size);

  auto file = std::make_shared<PlainFile>(folder, data);
  cases.push_back({.name = plain,
                   .bytes = 2 * bytes,
                   .run = [file] { file->write(); },
                   .check = [file] { return file->check(); }});
  auto agent = std::make_shared<AgentCase>(folder, data);
  cases.push_back({.name = fmt::format("agent: replica of {}", size),
                   .bytes = 2 * bytes,
                   .run = [agent] { agent->replica(); },
                   .check = [agent] { return agent->check(); },
                   .goals = {{.peer = plain, .ratio_min = 0.1}}});
  // Residual, parts and model; the residual after the commit is already stored.
  cases.push_back({.name = fmt::format("agent: round of {}", size),
                   .bytes = 3 * bytes,
                   .run = [agent] { agent->round(); },
                   .check = [agent] { return agent->check(); }});
  for (const std::uint32_t agents : {4u, 1000u}) {
    auto run = std::make_shared<CoordinatorCase>(folder, data, agents);
    cases.push_back({.name = fmt::format("coordinator: commit of {}, {} agents", size, agents),
                     .bytes = bytes / 8,
                     .run = [run] { run->commit(); },
                     .check = [run] { return run->check(); }});
  }
}

std::vector<Case> store_cases(const bench::Settings&) {
  std::vector<Case> cases;
  add_cases(4u << 10, "4 Ki", cases);
  add_cases(1u << 20, "1 Mi", cases);
  add_cases(4u << 20, "4 Mi", cases);
  return cases;
}

const bench::Registration kStore({.name = "store",
                                  .about = "journals beside a plain write and sync",
                                  .build = store_cases});

}  // namespace
}  // namespace tributary
