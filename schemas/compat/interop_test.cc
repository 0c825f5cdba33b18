// Tests that old, current and next builds, as separate processes, read one another's frames.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "core/base/files/file.h"
#include "schemas/compat/process_testing.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

using std::filesystem::path;
using ::testing::HasSubstr;
using ::testing::Not;

// The values that a program reads from the frames of a folder, by path.
using Reading = std::map<std::string, std::string>;

std::map<std::string, path> peers() {
  std::map<std::string, path> found;
  std::istringstream list(TRIBUTARY_WIRE_PEERS);
  for (std::string item; std::getline(list, item, ',');) {
    const std::size_t equals = item.find('=');
    found[item.substr(0, equals)] = item.substr(equals + 1);
  }
  return found;
}

Reading read_by(const path& peer, const path& folder) {
  const Outcome outcome = run_command(quoted(peer) + " read " + quoted(folder));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  Reading reading;
  std::istringstream lines(outcome.output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    reading[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return reading;
}

Bytes file_bytes(const path& name) {
  Result<Bytes> bytes = read_file(name.string(), wire::kFrameBytesMax);
  EXPECT_TRUE(bytes.ok()) << bytes.status().text();
  return bytes.ok() ? *std::move(bytes) : Bytes();
}

// The frames that each peer wrote, each in its own folder, and the values that the same peer reads
// from them.
class Interop : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, program] : peers()) {
      const path folder = folder_of(name);
      std::filesystem::create_directory(folder);
      const Outcome outcome = run_command(quoted(program) + " write " + quoted(folder));
      ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
      own_[name] = read_by(program, folder);
      ASSERT_FALSE(own_[name].empty()) << name;
    }
  }
  path folder_of(const std::string& peer) const { return temporary_.path() / peer; }

  TemporaryFolder temporary_;
  std::map<std::string, Reading> own_;
};

TEST_F(Interop, ThereAreOldCurrentAndNewPeers) {
  EXPECT_TRUE(own_.contains("released_1"));
  EXPECT_TRUE(own_.contains("current"));
  ASSERT_TRUE(own_.contains("next"));
  const std::string grown = "Commit Commit.rounds[1].outcomes[0].next_text";
  EXPECT_TRUE(own_["next"].contains(grown)) << "the next schemas have not grown";
  EXPECT_FALSE(own_["current"].contains(grown));
}

TEST_F(Interop, FieldsThatBothKnowAreReadAsTheyWereWritten) {
  for (const auto& [writer, written] : own_) {
    for (const auto& [reader, program] : peers()) {
      SCOPED_TRACE(::testing::Message() << writer << " writes, " << reader << " reads");
      const Reading read = read_by(program, folder_of(writer));
      std::size_t compared = 0;
      for (const auto& [field, value] : own_[reader]) {
        if (!written.contains(field)) continue;  // the writer is older than this field
        ASSERT_TRUE(read.contains(field)) << field;
        EXPECT_EQ(read.at(field), written.at(field)) << field;
        ++compared;
      }
      EXPECT_GT(compared, 500u);
    }
  }
}

TEST_F(Interop, FieldsThatOnlyTheWriterKnowsAreIgnored) {
  const Reading read = read_by(peers().at("released_1"), folder_of("next"));
  for (const auto& [field, value] : read) EXPECT_THAT(field, Not(HasSubstr("next_"))) << value;
}

TEST_F(Interop, AMessageThatOnlyTheWriterKnowsIsNamedByItsNumber) {
  const auto number = std::to_string(static_cast<int>(wire::Message::MAX) + 1);
  const Reading read = read_by(peers().at("current"), folder_of("next"));
  ASSERT_TRUE(read.contains("NextMessage unsupported"));
  EXPECT_EQ(read.at("NextMessage unsupported"), number);

  const Bytes frame = file_bytes(folder_of("next") / "NextMessage.frame");
  const Status status = open_frame(frame).status();
  EXPECT_EQ(status.code(), StatusCode::unsupported) << status.text();
  EXPECT_EQ(status.fault().got, "kind " + number);
}

TEST_F(Interop, OpenFrameAcceptsOldAndNewPeers) {
  for (const auto& [writer, written] : own_) {
    for (const auto& entry : std::filesystem::directory_iterator(folder_of(writer))) {
      if (entry.path().stem() == "NextMessage") continue;
      const Bytes frame = file_bytes(entry.path());
      EXPECT_TRUE(open_frame(frame).ok())
          << writer << ": " << entry.path().stem() << ": " << open_frame(frame).status().text();
    }
  }
}

// The seeds are the output of `wire_peer_current write` when they were last created.
TEST_F(Interop, TheFuzzerHasASeedOfEveryKind) {
  const path seeds = path(TRIBUTARY_SCHEMAS) / "frame_fuzz_corpus";
  for (int kind = 1; kind <= static_cast<int>(wire::Message::MAX); ++kind) {
    const auto name = std::string(wire::name(static_cast<wire::Message>(kind)));
    const Bytes frame = file_bytes(seeds / (name + ".frame"));
    EXPECT_TRUE(open_frame(frame).ok()) << name << ": " << open_frame(frame).status().text();
  }
}

TEST_F(Interop, APeerRefusesADamagedFrame) {
  const path name = folder_of("current") / "Plan.frame";
  std::filesystem::resize_file(name, std::filesystem::file_size(name) / 2);
  const Outcome outcome =
      run_command(quoted(peers().at("next")) + " read " + quoted(folder_of("current")));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("Plan: not a sound frame"));
}

}  // namespace
}  // namespace tributary
