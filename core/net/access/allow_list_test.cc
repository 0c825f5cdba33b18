// Tests of allow-lists as text, as files that several processes change, and in memory.
#include "core/net/access/allow_list.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "core/base/files/file.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PublicKey key_of(std::uint8_t number) {
  PublicKey key;
  key.bytes.fill(number);
  return key;
}
std::string text_of(std::uint8_t number) { return key_text(key_of(number)); }

std::vector<std::string> ids(const std::vector<AllowedAgent>& agents) {
  std::vector<std::string> ids;
  for (const AllowedAgent& agent : agents) ids.push_back(agent.id);
  return ids;
}

// An allow-list in a folder of its own.
class AllowFile : public testing::Test {
 protected:
  AllowFile() {
    std::string folder = testing::TempDir() + "allow_XXXXXX";
    folder_ = ::mkdtemp(folder.data());
  }
  ~AllowFile() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ / "agents.allow"; }
  std::string content() const {
    const Bytes bytes = *read_file(path(), 1u << 20);
    return {bytes.begin(), bytes.end()};
  }
  void write(const std::string& text) const {
    ASSERT_TRUE(write_file_atomically(path(), bytes_of(text)).ok());
  }

 private:
  std::filesystem::path folder_;
};

// Comments, empty lines, tabs, CRLF and blanks at the end: the file may be edited by hand on any
// system.
TEST(AllowListText, Reads) {
  const auto agents = parse_allow_list("# who\n\n  garage-01 " + text_of(1) +
                                       "  behind the # door \r\nroof.2\t" + text_of(2));
  ASSERT_TRUE(agents.ok()) << agents.status().text();
  EXPECT_THAT(ids(*agents), ElementsAre("garage-01", "roof.2"));
  EXPECT_EQ((*agents)[0].key, key_of(1));
  EXPECT_EQ((*agents)[0].comment, "behind the # door");
  EXPECT_EQ((*agents)[1].comment, "");
}

// No key, a short key, an id that is a path, an id or key twice, an id like an option, and texts
// that are too long or have control characters.
TEST(AllowListText, NamesTheBadLine) {
  const std::string good = "a " + text_of(1) + "\n";
  for (const std::string& bad :
       {std::string("b"), "b " + text_of(2).substr(1), "../b " + text_of(2), "a " + text_of(2),
        "b " + text_of(1), "-b " + text_of(2), std::string(65, 'b') + " " + text_of(2),
        "b " + text_of(2) + " " + std::string(200, 'c'), "b " + text_of(2) + " bell\a"}) {
    const Status status = parse_allow_list(good + bad).status();
    EXPECT_EQ(status.code(), StatusCode::corrupt_data) << bad;
    EXPECT_THAT(status.text(), HasSubstr("line 2")) << bad;
  }
}

// The list is bounded by the members that a federation can have.
TEST(AllowListText, HasACap) {
  std::string text;
  for (std::uint32_t i = 0; i <= wire::kMembersMax; ++i) {
    PublicKey key;
    std::memcpy(key.bytes.data(), &i, sizeof(i));
    text += fmt::format("a{} {}\n", i, key_text(key));
    if (i == wire::kMembersMax - 1) {
      EXPECT_TRUE(parse_allow_list(text).ok());
    }
  }
  EXPECT_EQ(parse_allow_list(text).status().code(), StatusCode::resource_exhausted);
}

// Revoking returns the whole entry, so that the command can print what it removed.
TEST_F(AllowFile, AllowsAndRevokes) {
  ASSERT_TRUE(allow_in_file(path(), {.id = "a", .key = key_of(1), .comment = "first"}).ok());
  ASSERT_TRUE(allow_in_file(path(), {.id = "b", .key = key_of(2)}).ok());
  EXPECT_THAT(ids(*read_allow_file(path())), ElementsAre("a", "b"));
  const Result<AllowedAgent> gone = revoke_in_file(path(), "a");
  ASSERT_TRUE(gone.ok()) << gone.status().text();
  EXPECT_EQ(gone->key, key_of(1));
  EXPECT_EQ(gone->comment, "first");
  EXPECT_THAT(ids(*read_allow_file(path())), ElementsAre("b"));
  EXPECT_EQ(revoke_in_file(path(), "a").status().code(), StatusCode::not_found);
}

// Comments and layout of a hand-written file survive; only a missing line break at the end is
// added.
TEST_F(AllowFile, KeepsOtherLinesAsTheyAre) {
  const std::string a = "a  " + text_of(1) + "   x\n";
  const std::string rest = "# by hand\n\nb " + text_of(2);
  write(a + rest);
  ASSERT_TRUE(allow_in_file(path(), {.id = "c", .key = key_of(3)}).ok());
  EXPECT_EQ(content(), a + rest + "\nc " + text_of(3) + "\n");
  ASSERT_TRUE(revoke_in_file(path(), "a").ok());
  EXPECT_EQ(content(), rest + "\nc " + text_of(3) + "\n");
}

// Two ids with one key would be the same agent under two names.
TEST_F(AllowFile, RefusesTwice) {
  ASSERT_TRUE(allow_in_file(path(), {.id = "a", .key = key_of(1)}).ok());
  const std::string before = content();
  EXPECT_EQ(allow_in_file(path(), {.id = "a", .key = key_of(2)}).code(),
            StatusCode::already_exists);
  const Status status = allow_in_file(path(), {.id = "b", .key = key_of(1)});
  EXPECT_EQ(status.code(), StatusCode::already_exists);
  EXPECT_THAT(status.text(), HasSubstr("agent 'a'"));
  EXPECT_EQ(content(), before);
}

// A text with a line break could add an entry of its own.
TEST_F(AllowFile, RefusesWhatWouldBreakIt) {
  EXPECT_EQ(allow_in_file(path(), {.id = "a b", .key = key_of(1)}).code(),
            StatusCode::invalid_argument);
  EXPECT_EQ(allow_in_file(path(), {.id = "a", .key = key_of(1), .comment = "x\ny z"}).code(),
            StatusCode::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(path()));
  write("nonsense\n");
  EXPECT_EQ(allow_in_file(path(), {.id = "a", .key = key_of(1)}).code(), StatusCode::corrupt_data);
  EXPECT_EQ(content(), "nonsense\n");
}

// Another user of the machine could otherwise admit an agent.
TEST_F(AllowFile, MustNotBeWritableByOthers) {
  ASSERT_TRUE(allow_in_file(path(), {.id = "a", .key = key_of(1)}).ok());
  ASSERT_EQ(::chmod(path().c_str(), 0666), 0);
  EXPECT_EQ(read_allow_file(path()).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(allow_in_file(path(), {.id = "b", .key = key_of(2)}).code(),
            StatusCode::invalid_argument);
}

// Every change reads, edits and replaces the file, so two changes need a lock.
TEST_F(AllowFile, ManyAtOnceLoseNoEntry) {
  constexpr std::uint8_t kThreads = 8;
  std::vector<std::thread> threads;
  for (std::uint8_t i = 1; i <= kThreads; ++i) {
    threads.emplace_back([this, i] {
      EXPECT_TRUE(allow_in_file(path(), {.id = fmt::format("a{}", i), .key = key_of(i)}).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(read_allow_file(path())->size(), std::size_t{kThreads});
}

// Replacing is what a daemon does when the file has changed.
TEST(AllowList, ChangesAsRequested) {
  AllowList list({{.id = "a", .key = key_of(1)}});
  EXPECT_TRUE(list.allows(key_of(1)));
  EXPECT_EQ(list.id_of(key_of(1)), "a");
  EXPECT_FALSE(list.allows(key_of(2)));
  EXPECT_EQ(list.id_of(key_of(2)), "");
  list.allow(key_of(2), "b");
  list.revoke(key_of(1));
  EXPECT_FALSE(list.allows(key_of(1)));
  EXPECT_TRUE(list.allows(key_of(2)));
  list.replace({{.id = "c", .key = key_of(3)}});
  EXPECT_FALSE(list.allows(key_of(2)));
  EXPECT_EQ(list.size(), 1u);
}

}  // namespace
}  // namespace tributary
