// Tests of join files: their format, their permissions, and that no error reveals a secret.
#include "core/net/access/join_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/net/keys/secret_file.h"

namespace tributary {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

JoinFile example() {
  return {.agent_id = "garage-01",
          .coordinator = "tcp://coordinator.lan:4640",
          .coordinator_key = make_key_pair()->public_key,
          .keys = *make_key_pair()};
}

std::string text_of(const JoinFile& join) {
  return fmt::format(
      "agent_id = \"{}\"\ncoordinator = \"{}\"\ncoordinator_key = \"{}\"\npublic_key = \"{}\"\n"
      "secret_key = \"{}\"\n",
      join.agent_id, join.coordinator, key_text(join.coordinator_key),
      key_text(join.keys.public_key), secret_key_text(join.keys.secret_key).view());
}

// The text with the first occurrence of `from` replaced; it must occur.
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

void expect_same(const Result<JoinFile>& read, const JoinFile& written) {
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(read->agent_id, written.agent_id);
  EXPECT_EQ(read->coordinator, written.coordinator);
  EXPECT_EQ(read->coordinator_key, written.coordinator_key);
  EXPECT_EQ(read->keys.public_key, written.keys.public_key);
  EXPECT_TRUE(std::ranges::equal(read->keys.secret_key.bytes(), written.keys.secret_key.bytes()));
}

class JoinFiles : public testing::Test {
 protected:
  JoinFiles() {
    std::string folder = testing::TempDir() + "join_XXXXXX";
    folder_ = ::mkdtemp(folder.data());
  }
  ~JoinFiles() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

// The join file is all that an agent needs to connect.
TEST_F(JoinFiles, ComeBackAsTheyWere) {
  const JoinFile join = example();
  const Status written = write_join_file(path("agent.join"), join);
  ASSERT_TRUE(written.ok()) << written.text();
  expect_same(read_join_file(path("agent.join")), join);
}

// The file has a secret key. An error says which command mends the permissions.
TEST_F(JoinFiles, AreForTheirOwnerAlone) {
  ASSERT_TRUE(write_join_file(path("agent.join"), example()).ok());
  struct stat about {};
  ASSERT_EQ(::stat(path("agent.join").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  for (const mode_t mode : {0640u, 0604u, 0622u}) {
    ASSERT_EQ(::chmod(path("agent.join").c_str(), mode), 0);
    const Status status = read_join_file(path("agent.join")).status();
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_THAT(status.text(), AllOf(HasSubstr("agent.join"), HasSubstr("chmod 600")));
  }
}

// The secret key exists nowhere else, so overwriting it would lose the agent's identity.
TEST_F(JoinFiles, AreNeverReplaced) {
  const JoinFile join = example();
  ASSERT_TRUE(write_join_file(path("agent.join"), join).ok());
  EXPECT_EQ(write_join_file(path("agent.join"), example()).code(), StatusCode::already_exists);
  expect_same(read_join_file(path("agent.join")), join);
}

// The first error that a new user sees.
TEST_F(JoinFiles, WhereThereIsNoneTheCommandIsNamed) {
  const Status status = read_join_file(path("agent.join")).status();
  EXPECT_EQ(status.code(), StatusCode::not_found);
  EXPECT_THAT(status.text(), AllOf(HasSubstr("agent.join"), HasSubstr("tributary keys join")));
}

// A misspelt key gets a suggestion.
TEST_F(JoinFiles, OthersAreNamedWithTheLine) {
  std::ofstream(path("agent.join")) << "\nagent = \"garage-01\"\n";
  std::filesystem::permissions(path("agent.join"), std::filesystem::perms(0600));
  const Status status = read_join_file(path("agent.join")).status();
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  EXPECT_THAT(status.text(), AllOf(HasSubstr("agent.join: line 2"), HasSubstr("mean 'agent_id'")));
}

// Found when the file is made, not later on the device. An IPv6 address in brackets is valid.
TEST_F(JoinFiles, WhatCannotBeDialledIsNotWritten) {
  for (const char* endpoint :
       {"", "coordinator.lan:4640", "tcp://", "tcp://:4640", "tcp://*:4640", "tcp://a:0",
        "tcp://a:65536", "tcp://a:b", "tcp://a", "tcp://a:1 ", "tcp://a\":1", "udp://a:4640"}) {
    JoinFile join = example();
    join.coordinator = endpoint;
    EXPECT_EQ(write_join_file(path("agent.join"), join).code(), StatusCode::invalid_argument)
        << endpoint;
  }
  JoinFile join = example();
  join.agent_id = "garage 01";
  EXPECT_EQ(write_join_file(path("agent.join"), join).code(), StatusCode::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(path("agent.join")));
  join = example();
  join.coordinator = "tcp://[fd00::1]:4640";
  EXPECT_TRUE(write_join_file(path("agent.join"), join).ok());
}

// Comments, other quotes, CRLF and a missing line break at the end.
TEST(JoinFile, TakesWhatAPersonMayHaveDoneToIt) {
  const JoinFile join = example();
  std::string text = replaced(text_of(join), "agent_id = \"garage-01\"",
                              "\r\n  # the one behind the door\n\tagent_id='garage-01'  # first\r");
  expect_same(parse_join_file(text), join);
  text.pop_back();  // the line break of the last line
  expect_same(parse_join_file(text), join);
}

// The format is a small subset of TOML; escapes such as \u002d are not part of it.
TEST(JoinFile, RefusesWhatIsMissingDoubledOrNoTextInQuotes) {
  const std::string good = text_of(example());
  for (const std::string& bad :
       {std::string(), good + "agent_id = \"roof\"\n", good + "colour = \"red\"\n", good + "x\n",
        replaced(good, "agent_id", "# agent_id"), replaced(good, "\"garage-01\"", "garage-01"),
        replaced(good, "garage-01\"", "garage-01"), replaced(good, "garage-01\"", "garage-01\" x"),
        replaced(good, "garage-01", "garage\\u002d01"), replaced(good, "secret_key", "seal"),
        replaced(good, "garage-01\"\n", "garage-01\n")}) {
    EXPECT_EQ(parse_join_file(bad).status().code(), StatusCode::corrupt_data) << bad;
  }
}

// Each change puts the secret at a place from which an error would usually quote.
TEST(JoinFile, HalvesMustFitAndNoErrorContainsTheSecret) {
  const JoinFile join = example();
  const std::string good = text_of(join);
  const std::string secret(secret_key_text(join.keys.secret_key).view());
  const std::string other = key_text(make_key_pair()->public_key);
  for (const std::string& bad :
       {replaced(good, key_text(join.keys.public_key), other),
        fmt::format("{}secret_key = '{}'", good, secret),
        replaced(good, "secret_key", "secert_key"), replaced(good, secret + "\"", secret),
        replaced(good, "secret_key = ", ""), replaced(good, "secret_key", "agent_id"),
        replaced(good, "tcp://coordinator.lan:4640", secret)}) {
    const Status status = parse_join_file(bad).status();
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.text(), Not(HasSubstr(secret)));
  }
}

}  // namespace
}  // namespace tributary
