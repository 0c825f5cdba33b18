// The agent's journal keeps the received bytes of a download until the replica is stored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/bytes/checksum.h"
#include "core/store/agent/agent_journal.h"
#include "core/store/testing/folder_testing.h"
#include "core/store/testing/life_testing.h"
#include "schemas/limits.h"

namespace tributary::store_testing {
namespace {

constexpr std::uint64_t kJob = 7;
constexpr std::uint64_t kBytes = 5'000'000;

class Download : public testing::Test {
 protected:
  void SetUp() override {
    for (std::uint8_t& byte : content_) byte = static_cast<std::uint8_t>(draws_.next());
    open();
  }
  void open() {
    journal_.reset();
    auto journal = AgentJournal::open({.path = path_, .durability = Durability::stop});
    ASSERT_TRUE(journal.ok()) << journal.status().text();
    journal_ = *std::move(journal);
  }

  // The bytes [begin, end) of the download as one run.
  DownloadRecord run(std::uint64_t begin, std::uint64_t end) const {
    return {
        .job = kJob,
        .hash = hash64(content_),
        .bytes = kBytes,
        .offset = begin,
        .data = std::make_shared<const Bytes>(content_.begin() + static_cast<std::ptrdiff_t>(begin),
                                              content_.begin() + static_cast<std::ptrdiff_t>(end))};
  }
  void store(const AgentRecordToStore& record) { ASSERT_EQ(journal_->store(record).text(), "ok"); }
  void expect_refused(const DownloadRecord& record, const std::string& expected,
                      const std::string& got) {
    const Status status = journal_->store(record);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_FALSE(worth_retrying(status));
    EXPECT_THAT(status.text(),
                testing::AllOf(testing::HasSubstr("job 7"), testing::HasSubstr(expected),
                               testing::HasSubstr(got), testing::HasSubstr("from offset 0")));
  }

  std::optional<StoredDownload> restored() {
    const auto state = journal_->restore();
    EXPECT_TRUE(state.ok()) << state.status().text();
    return state.ok() ? state->download : std::nullopt;
  }
  // Number of restored bytes, after a check that they are those of the download.
  std::uint64_t restored_bytes() {
    const std::optional<StoredDownload> download = restored();
    if (!download) return 0;
    EXPECT_EQ(download->job, kJob);
    EXPECT_EQ(download->hash, hash64(content_));
    EXPECT_EQ(download->bytes, kBytes);
    EXPECT_TRUE(std::equal(download->received.begin(), download->received.end(), content_.begin()));
    return download->received.size();
  }
  std::int64_t rows() {
    std::int64_t rows = -1;
    const std::string_view sql =
        "SELECT (SELECT count(*) FROM download) + (SELECT count(*) FROM download_runs)";
    EXPECT_TRUE(journal_->database().first(sql, std::tie(rows)).ok());
    return rows;
  }
  void tamper(const std::string& sql) { ASSERT_EQ(journal_->database().execute(sql).text(), "ok"); }

  Folder folder_;
  const std::string path_ = folder_ / "agent.db";
  Draws draws_{1};
  Bytes content_ = Bytes(kBytes);
  std::unique_ptr<AgentJournal> journal_;
};

TEST_F(Download, IsRestoredUpToItsStoredPart) {
  EXPECT_FALSE(restored());
  store(run(0, 3'000'000));
  EXPECT_EQ(restored_bytes(), 3'000'000u);
  store(run(3'000'000, 3'000'001));
  open();
  EXPECT_EQ(restored_bytes(), 3'000'001u);
  store(run(3'000'001, kBytes));
  open();
  EXPECT_EQ(restored_bytes(), kBytes);
}

TEST_F(Download, BeginsAnewAtOffset0) {
  store(run(0, 3'000'000));
  DownloadRecord other = run(0, 10);
  other.job = 8;
  other.hash = 1;
  other.bytes = 10;
  store(other);
  const auto download = restored();
  ASSERT_TRUE(download);
  EXPECT_EQ(download->job, 8u);
  EXPECT_EQ(download->hash, 1u);
  EXPECT_EQ(download->bytes, 10u);
  EXPECT_EQ(download->received, *other.data);
  EXPECT_EQ(rows(), 2);
}

TEST_F(Download, ARunWithoutBytesIsNone) {
  store(run(0, 0));
  DownloadRecord none = run(0, 0);
  none.data = nullptr;
  store(none);
  EXPECT_TRUE(restored());
  EXPECT_EQ(restored_bytes(), 0u);
  store(run(0, 10));
  EXPECT_EQ(restored_bytes(), 10u);
}

TEST_F(Download, ARunThatDoesNotFollowIsRefused) {
  expect_refused(run(5, 10), "an earlier run at offset 0", "none");
  store(run(0, 100));
  expect_refused(run(99, 200), "expected offset 100", "got offset 99");
  expect_refused(run(101, 200), "expected offset 100", "got offset 101");
  DownloadRecord other = run(100, 200);
  other.hash = 1;
  expect_refused(other, "job 7, hash", "hash 0000000000000001");
  other = run(100, 200);
  other.bytes = kBytes + 1;
  expect_refused(other, "5000000 bytes", "5000001 bytes");
  EXPECT_EQ(restored_bytes(), 100u) << "what is stored stays";
}

TEST_F(Download, ARunBeyondItsEndIsRefused) {
  store(run(0, 100));
  DownloadRecord record = run(100, kBytes);
  record.bytes = kBytes - 1;
  expect_refused(record, "ends at byte 4999999", "4999900 bytes at offset 100");
  record.offset = UINT64_MAX;
  expect_refused(record, "ends at byte 4999999", "offset 18446744073709551615");
  record = run(0, 10);
  record.bytes = wire::kTransferBytesMax + 1;
  expect_refused(record, "at most", std::to_string(record.bytes));
  EXPECT_EQ(restored_bytes(), 100u);
}

// A stored replica makes the download obsolete.
TEST_F(Download, EndsWithAReplica) {
  store(run(0, 3'000'000));
  ReplicaRecord replica;
  replica.job = kJob;
  replica.model = draws_.floats(1);
  store(replica);
  EXPECT_FALSE(restored());
  EXPECT_EQ(rows(), 0);
}

// The model reuses the pages of its download.
TEST_F(Download, AReplicaOfTheSameSizeDoesNotMakeTheFileLonger) {
  store(run(0, kBytes));
  const std::uint64_t before = journal_->database().file_bytes();
  ReplicaRecord replica;
  replica.job = kJob;
  replica.model = draws_.floats(kBytes / sizeof(float));
  store(replica);
  EXPECT_LT(journal_->database().file_bytes(), before + (256u << 10));
}

TEST_F(Download, EndsWithAnotherJobAlone) {
  store(run(0, 3'000'000));
  store(AgentJobRecord{.job = kJob, .definition = {}});
  EXPECT_EQ(restored_bytes(), 3'000'000u);
  store(AgentJobRecord{.job = 8, .definition = {}});
  EXPECT_FALSE(restored());
  EXPECT_EQ(rows(), 0);
}

// The download belongs to the new job, and a record of this job must not delete it.
TEST_F(Download, StaysWhereTheReplicaIsOfTheJobBefore) {
  ReplicaRecord replica;
  replica.job = 6;
  replica.model = draws_.floats(1);
  store(replica);
  store(run(0, 100));
  store(AgentJobRecord{.job = kJob, .definition = {}});
  EXPECT_EQ(restored_bytes(), 100u);
}

// A download that cannot be read is ignored, and the next one replaces it.
TEST_F(Download, IsForgottenWhereItCannotBeRead) {
  for (const char* damage :
       {"DELETE FROM download", "DELETE FROM download_runs WHERE begins_at = 0",
        "DELETE FROM download_runs WHERE begins_at = 1048576",
        "UPDATE download_runs SET data = zeroblob(length(data)) WHERE begins_at = 0",
        "UPDATE download_runs SET data = 'text' WHERE begins_at = 0",
        "UPDATE download_runs SET begins_at = begins_at + 1",
        "UPDATE download_runs SET begins_at = -1 WHERE begins_at = 0",
        "INSERT INTO download_runs VALUES (5000000, 0, x'00')",
        "UPDATE download SET bytes = 2999999", "UPDATE download SET bytes = -1",
        "UPDATE download SET bytes = 1 << 60", "UPDATE download SET job = 'seven'"}) {
    store(run(0, 3'000'000));
    tamper(damage);
    EXPECT_FALSE(restored()) << damage;
    open();
    EXPECT_FALSE(restored()) << damage;
  }
  store(run(0, 3'000'000));
  EXPECT_EQ(restored_bytes(), 3'000'000u);
}

}  // namespace
}  // namespace tributary::store_testing
