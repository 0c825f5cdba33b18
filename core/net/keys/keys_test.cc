#include "core/net/keys/keys.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "core/base/files/file.h"

namespace tributary {
namespace {

using testing::HasSubstr;

// Key files in a folder of their own.
class KeyFiles : public testing::Test {
 protected:
  KeyFiles() {
    std::string folder = testing::TempDir() + "keys_XXXXXX";
    folder_ = ::mkdtemp(folder.data());
  }
  ~KeyFiles() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ / name; }

  static KeyPair new_keys() { return *make_key_pair(); }
  std::string file_with(const std::string& text) const {
    EXPECT_TRUE(write_file_atomically(path("file"), bytes_of(text), {.mode_if_new = 0600}).ok());
    return path("file");
  }

 private:
  std::filesystem::path folder_;
};

// Two pairs differ: the generator is seeded by the system.
TEST(Keys, TextAndBack) {
  const KeyPair keys = *make_key_pair();
  const std::string text = key_text(keys.public_key);
  EXPECT_EQ(text.size(), kKeyTextBytes);
  ASSERT_TRUE(parse_public_key(text).ok());
  EXPECT_EQ(*parse_public_key(text), keys.public_key);
  EXPECT_NE(make_key_pair()->public_key, keys.public_key);
}

// The example of Z85, repeated to the length of a key.
TEST(Keys, TheTextIsThatOfZeroMq) {  // from RFC 32
  PublicKey key;
  const std::array<std::uint8_t, 8> bytes = {0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B};
  for (std::size_t i = 0; i < kKeyBytes; ++i) key.bytes.at(i) = bytes.at(i % 8);
  EXPECT_EQ(key_text(key), "HelloWorldHelloWorldHelloWorldHelloWorld");
}

// Other lengths, and characters that are not in the alphabet of Z85.
TEST(Keys, RefusesWhatIsNoKey) {
  const std::string good = key_text(make_key_pair()->public_key);
  for (const std::string& bad :
       {std::string(), good.substr(1), good + "a", std::string(40, '~'), std::string(40, '\0'),
        std::string(39, 'a') + "\n", std::string(40, '#')}) {
    EXPECT_EQ(parse_public_key(bad).status().code(), StatusCode::invalid_argument) << bad;
  }
}

// A key is an argument of commands. 500 pairs: without the rule, one in 85 would begin with a dash.
TEST(Keys, NoKeyLooksLikeAnOption) {
  for (int i = 0; i < 500; ++i) {
    EXPECT_NE(key_text(make_key_pair()->public_key)[0], '-');
  }
}

// The public half may be a file of its own, for copying to another machine.
TEST_F(KeyFiles, ComeBackAsTheyWere) {
  const KeyPair keys = new_keys();
  ASSERT_TRUE(write_key_pair(path("agent.key"), keys).ok());
  const Result<KeyPair> read = read_key_pair(path("agent.key"));
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(read->public_key, keys.public_key);
  EXPECT_TRUE(std::ranges::equal(read->secret_key.bytes(), keys.secret_key.bytes()));
  ASSERT_TRUE(write_public_key(path("agent.pub"), keys.public_key).ok());
  EXPECT_EQ(*read_public_key(path("agent.pub")), keys.public_key);
}

// Readable or writable by a group or by others: each is refused.
TEST_F(KeyFiles, AreForTheirOwnerAlone) {
  ASSERT_TRUE(write_key_pair(path("agent.key"), new_keys()).ok());
  struct stat about {};
  ASSERT_EQ(::stat(path("agent.key").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  for (const mode_t mode : {0640u, 0604u, 0622u}) {
    ASSERT_EQ(::chmod(path("agent.key").c_str(), mode), 0);
    const Status status = read_key_pair(path("agent.key")).status();
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_THAT(status.text(), HasSubstr("agent.key"));
  }
}

// Not through a link to nowhere either, which a plain check for existence would overlook.
TEST_F(KeyFiles, AreNeverReplaced) {
  ASSERT_TRUE(write_key_pair(path("agent.key"), new_keys()).ok());
  const Bytes before = *read_file(path("agent.key"), 4096);
  EXPECT_EQ(write_key_pair(path("agent.key"), new_keys()).code(), StatusCode::already_exists);
  EXPECT_EQ(*read_file(path("agent.key"), 4096), before);
  ASSERT_EQ(::symlink("nowhere", path("link.key").c_str()), 0);
  EXPECT_EQ(write_key_pair(path("link.key"), new_keys()).code(), StatusCode::already_exists);
}

// The file was edited: the public half is another pair's. The error quotes neither half.
TEST_F(KeyFiles, HalvesMustFit) {
  const KeyPair one = new_keys();
  ASSERT_TRUE(write_key_pair(path("one.key"), one).ok());
  const Bytes whole = *read_file(path("one.key"), 4096);
  std::string text(whole.begin(), whole.end());
  const std::string other = key_text(new_keys().public_key);
  text.replace(text.find(key_text(one.public_key)), kKeyTextBytes, other);
  const Status status = read_key_pair(file_with(text)).status();
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  EXPECT_THAT(status.text(), HasSubstr("two different pairs"));
  EXPECT_THAT(status.text(), testing::Not(HasSubstr(other)));
}

// Empty, invalid keys, too long, and without the secret half.
TEST_F(KeyFiles, RefusesOtherFiles) {
  for (const std::string& text :
       {std::string(), std::string("public = a\nsecret = b\n"), std::string(4096, '\n'),
        "public = " + key_text(new_keys().public_key) + "\n"}) {
    EXPECT_EQ(read_key_pair(file_with(text)).status().code(), StatusCode::corrupt_data);
    EXPECT_FALSE(read_public_key(file_with(text)).ok());
  }
  EXPECT_EQ(read_key_pair(path("none")).status().code(), StatusCode::not_found);
}

}  // namespace
}  // namespace tributary
