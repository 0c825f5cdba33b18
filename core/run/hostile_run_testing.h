// A run's file that has been tampered with, for fuzzers of its readers. First, cells of its tables
// and bytes of its frames are replaced by arbitrary values; then bytes of the file are.
//
// The input is one byte of choices for the fuzzer, then steps. A step is a byte that selects its
// kind, and its data:
//   cell   which cell (1 byte), which row (1), type of the value (1), and the value: nothing, 8
//          bytes, or a size byte with as many bytes
//   frame  which frame (1), number of edits (1), and per edit an offset (2) and a value (1)
//   file   offset (3), value (1)
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/files/file.h"
#include "core/run/run_frames_testing.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/testing/folder_testing.h"

namespace tributary::run_testing {

// Ends the process; failures of the harness itself are not findings about the readers.
inline void must(bool condition) {
  if (!condition) std::abort();
}

// Splits an input into values; missing bytes read as 0.
class HostileInput {
 public:
  explicit HostileInput(ByteSpan bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    for (const std::uint8_t byte : take(bytes)) value = value << 8 | byte;
    return value;
  }
  ByteSpan sized() { return take(number(1)); }

 private:
  ByteSpan take(std::size_t bytes) {
    const ByteSpan taken = bytes_.first(std::min(bytes, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }
  ByteSpan bytes_;
};

// The original file is written once, and restored before each input.
class HostileRun {
 public:
  static constexpr std::uint64_t kRounds = 6;

  HostileRun() {
    must(write_original().ok());
    Result<Bytes> bytes = read_file(path(), kFileBytesMax);
    must(bytes.ok());
    original_ = std::move(*bytes);
  }

  std::string path() const { return folder_ / "run.db"; }
  void restore() { put(original_); }

  // Applies the edits of the input to the file. Edits that SQLite rejects have no effect.
  void tamper(HostileInput& input) {
    std::vector<std::pair<std::size_t, std::uint8_t>> file_edits;
    {
      auto database = Database::open(path(), {.sync = false});
      must(database.ok());
      for (int step = 0; step < kStepsMax && !input.empty(); ++step) {
        const std::uint64_t what = input.number(1) % 4;
        if (what <= 1) change_cell(**database, input);
        if (what == 2) change_frame(**database, input);
        if (what == 3) {
          const std::uint64_t place = input.number(3);
          file_edits.emplace_back(place, static_cast<std::uint8_t>(input.number(1)));
        }
      }
      ignore_error((*database)->log().copy());
    }
    if (file_edits.empty()) return;
    Result<Bytes> bytes = read_file(path(), kFileBytesMax);
    must(bytes.ok() && !bytes->empty());
    for (const auto& [place, value] : file_edits) (*bytes)[place % bytes->size()] = value;
    put(*bytes);
  }

 private:
  static constexpr std::uint64_t kFileBytesMax = 64u << 20;
  static constexpr int kStepsMax = 64;

  struct Frame {
    std::string_view read;
    std::string_view write;
  };
  static constexpr std::array kFrames = {
      Frame{"SELECT frame FROM plans WHERE round_row = ?",
            "UPDATE plans SET frame = ? WHERE round_row = ?"},
      Frame{"SELECT definition FROM jobs WHERE submission = ?",
            "UPDATE jobs SET definition = ? WHERE submission = ?"},
      Frame{"SELECT member_list FROM epochs WHERE epoch_row = ?",
            "UPDATE epochs SET member_list = ? WHERE epoch_row = ?"},
      Frame{"SELECT outcomes FROM rounds WHERE round_row = ?",
            "UPDATE rounds SET outcomes = ? WHERE round_row = ?"}};

  // SQLite stores any type in any column, except a rowid.
  static constexpr std::array<std::string_view, 46> kCells = {
      "UPDATE OR IGNORE jobs SET job = ? WHERE submission = ?",
      "UPDATE OR IGNORE jobs SET revision = ? WHERE submission = ?",
      "UPDATE OR IGNORE jobs SET state = ? WHERE submission = ?",
      "UPDATE OR IGNORE jobs SET state_reason = ? WHERE submission = ?",
      "UPDATE OR IGNORE jobs SET definition = ? WHERE submission = ?",
      "UPDATE OR IGNORE jobs SET submitted_wall_ns = ? WHERE submission = ?",
      "UPDATE OR IGNORE jobs SET submission = ? WHERE submission = ?",
      "UPDATE OR IGNORE epochs SET epoch = ? WHERE epoch_row = ?",
      "UPDATE OR IGNORE epochs SET members = ? WHERE epoch_row = ?",
      "UPDATE OR IGNORE epochs SET member_list = ? WHERE epoch_row = ?",
      "UPDATE OR IGNORE rounds SET job = ? WHERE round_row = ?",
      "UPDATE OR IGNORE rounds SET round = ? WHERE round_row = ?",
      "UPDATE OR IGNORE rounds SET epoch = ? WHERE round_row = ?",
      "UPDATE OR IGNORE rounds SET attempt = ? WHERE round_row = ?",
      "UPDATE OR IGNORE rounds SET members = ? WHERE round_row = ?",
      "UPDATE OR IGNORE rounds SET buckets = ? WHERE round_row = ?",
      "UPDATE OR IGNORE rounds SET began_at_ns = ? WHERE round_row = ?",
      "UPDATE OR IGNORE rounds SET committed_at_ns = ? WHERE round_row = ?",
      "UPDATE OR IGNORE rounds SET committed_wall_ns = ? WHERE round_row = ?",
      "UPDATE OR IGNORE rounds SET bytes_up = ? WHERE round_row = ?",
      "UPDATE OR IGNORE rounds SET outcomes = ? WHERE round_row = ?",
      "UPDATE OR IGNORE rounds SET round_row = ? WHERE round_row = ?",
      "UPDATE OR IGNORE contributor_sets SET contributors = ? WHERE round_row = ?",
      "UPDATE OR IGNORE contributor_sets SET bits = ? WHERE round_row = ?",
      "UPDATE OR IGNORE contributor_sets SET place = ? WHERE round_row = ?",
      "UPDATE OR IGNORE plans SET trigger_name = ? WHERE round_row = ?",
      "UPDATE OR IGNORE plans SET codecs = ? WHERE round_row = ?",
      "UPDATE OR IGNORE plans SET collectives = ? WHERE round_row = ?",
      "UPDATE OR IGNORE plans SET frame = ? WHERE round_row = ?",
      "UPDATE OR IGNORE agents SET agent = ? WHERE agent = ?",
      "UPDATE OR IGNORE agents SET agent_id = ? WHERE agent = ?",
      "UPDATE OR IGNORE agents SET device_model = ? WHERE agent = ?",
      "UPDATE OR IGNORE agents SET connected = ? WHERE agent = ?",
      "UPDATE OR IGNORE agent_rounds SET agent_round = ? WHERE agent_round = ?",
      "UPDATE OR IGNORE agent_rounds SET agent = ? WHERE agent_round = ?",
      "UPDATE OR IGNORE agent_rounds SET round = ? WHERE agent_round = ?",
      "UPDATE OR IGNORE agent_rounds SET loss = ? WHERE agent_round = ?",
      "UPDATE OR IGNORE events SET event = ? WHERE event = ?",
      "UPDATE OR IGNORE events SET level = ? WHERE event = ?",
      "UPDATE OR IGNORE events SET text = ? WHERE event = ?",
      "UPDATE OR IGNORE metrics SET metric = ? WHERE metric = ?",
      "UPDATE OR IGNORE metrics SET at_wall_ns = ? WHERE metric = ?",
      "UPDATE OR IGNORE metrics SET name = ? WHERE metric = ?",
      "UPDATE OR IGNORE metrics SET value = ? WHERE metric = ?",
      "UPDATE OR IGNORE metrics SET agent_id = ? WHERE metric = ?",
      "UPDATE OR IGNORE link_samples SET alpha_s = ? WHERE link_sample = ?"};

  // A change that the schema does not allow has no effect.
  static void change_cell(Database& database, HostileInput& input) {
    const std::string_view cell = kCells[input.number(1) % kCells.size()];
    const std::int64_t row = static_cast<std::int64_t>(input.number(1) % 12) + 1;
    switch (input.number(1) % 6) {
      case 0:
        return ignore_error(database.run(cell, std::optional<std::string>(), row));
      case 1:
        return ignore_error(database.run(cell, input.number(8), row));
      case 2:
        return ignore_error(database.run(cell, std::bit_cast<double>(input.number(8)), row));
      case 3: {
        const ByteSpan text = input.sized();
        return ignore_error(database.run(
            cell, std::string(reinterpret_cast<const char*>(text.data()), text.size()), row));
      }
      case 4:
        return ignore_error(database.run(cell, input.sized(), row));
      default:  // a large value of zeros
        return ignore_error(database.run(cell, Bytes(input.number(2) * 4), row));
    }
  }

  static void change_frame(Database& database, HostileInput& input) {
    const std::uint64_t which = input.number(1);
    const Frame& frame = kFrames[which % kFrames.size()];
    const std::int64_t row = static_cast<std::int64_t>(which / kFrames.size() % kRounds) + 1;
    Bytes bytes;
    const Result<bool> there = database.first(frame.read, std::tie(bytes), row);
    const std::uint64_t edits = input.number(1) % 32;
    for (std::uint64_t i = 0; i < edits; ++i) {
      const std::uint64_t place = input.number(2);
      const std::uint64_t value = input.number(1);
      if (!bytes.empty()) bytes[place % bytes.size()] = static_cast<std::uint8_t>(value);
    }
    if (there.ok() && *there) ignore_error(database.run(frame.write, bytes, row));
  }

  // Replaces the file, as an operator does with a copy.
  void put(const Bytes& bytes) {
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(path() + suffix);
    must(write_file_atomically(path(), bytes).ok());
  }

  Status write_original() {
    TRIBUTARY_ASSIGN(
        const auto journal,
        CoordinatorJournal::open({.journal = {.path = path(), .durability = Durability::stop}}));
    NewJobRecord job;
    job.job.job = job.checkpoint.job = kJob;
    job.job.definition = definition("digits");
    TRIBUTARY_TRY(journal->store(job));
    TRIBUTARY_TRY(journal->store(EpochRecord{kJob, 1, 1, {{"a", 1}, {"b", 1}, {"c", 2}}}));
    TRIBUTARY_TRY(journal->store(AgentRecords{{{.agent_id = "a",
                                                .build = "1",
                                                .device_model = "Nano",
                                                .connected = true,
                                                .job = kJob}}}));
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      TRIBUTARY_TRY(journal->store(commit(round)));
      TRIBUTARY_TRY(journal->add(telemetry(round)));
    }
    return journal->database().log().copy();
  }

  static CommitRecord commit(std::uint64_t number) {
    CommitRecord commit;
    RoundRecord& round = commit.round;
    round.id = {kJob, number, 1, 0};
    round.members = 3;
    round.buckets = 2;
    round.committed_at_ns = 1'000'000'000;
    round.bytes_up = 300;
    round.bytes_down = 600;
    round.contributor_sets.push_back({{7}, 3, 3});
    round.outcomes = {{0, 0, 1}, {1, 0, 2}};
    round.plan = plan(number, {.ratios = {0.1, 0.2, 0.3}, .decided = number % 2 == 1});
    for (const std::string agent : {"a", "b"}) {
      AgentRoundRecord& report = commit.reports.emplace_back();
      report.id = round.id;
      report.agent_id = agent;
      report.loss = 0.5;
      report.compute_s = 0.25;
    }
    return commit;
  }

  static TelemetryRows telemetry(std::uint64_t round) {
    TelemetryRows rows;
    const auto at_ns = static_cast<std::int64_t>(round) * 1'000'000'000;
    for (const std::string_view name : {"evaluation_accuracy", "board_celsius"}) {
      rows.metrics.push_back(
          {at_ns, {.name = name, .value = 0.5, .job = kJob, .round = round, .agent_id = "a"}});
    }
    rows.events.push_back(
        {at_ns, {.level = LogLevel::warning, .name = "agent_gone", .text = "?", .job = kJob}});
    rows.link_samples.push_back({.at_wall_ns = at_ns,
                                 .from = "a",
                                 .to = "",
                                 .method = wire::LinkMethod::passive,
                                 .alpha_s = 0.01,
                                 .beta_s_per_byte = 1e-7,
                                 .confidence = 1});
    return rows;
  }

  store_testing::Folder folder_;
  Bytes original_;
};

}  // namespace tributary::run_testing
