// Keys and allow-lists, managed on the command line.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "cli/end_to_end/program_testing.h"

namespace tributary {
namespace {

using Json = nlohmann::json;
using program_testing::Outcome;
using program_testing::ProgramTest;
using program_testing::run;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Keys : public ProgramTest {
 protected:
  static Json data(std::vector<std::string> args) {
    args.emplace_back("--json");
    const Outcome outcome = run(args);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    return Json::parse(outcome.out)["data"];
  }
  std::string new_key(const std::string& name) const {
    return data({"keys", "new", "--out", path(name)})["public_key"];
  }
  // The secret half as text, for tests that look for it where it must not be.
  std::string secret_of(const std::string& name) const {
    const std::string file = read(name);
    return file.substr(file.find("secret = ") + 9, 40);
  }
  std::string list() const { return path("agents.allow"); }
  Outcome allow(const std::string& id, const std::string& key) const {
    return run({"keys", "allow", "--list", list(), "--id", id, "--key", key});
  }
};

// Two files: the pair for its owner, and the public half for everybody.
TEST_F(Keys, NewMakesAPairForItsOwnerAlone) {
  const Json made = data({"keys", "new", "--out", path("agent.key")});
  EXPECT_EQ(made["public_key"].get<std::string>().size(), 40u);
  EXPECT_EQ(made["key_file"], path("agent.key"));
  EXPECT_EQ(made["public_key_file"], path("agent.key.pub"));
  EXPECT_THAT(names(), ElementsAre("agent.key", "agent.key.pub"));
  EXPECT_EQ(read("agent.key.pub"), made["public_key"].get<std::string>() + "\n");
  struct stat about {};
  ASSERT_EQ(::stat(path("agent.key").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  EXPECT_NE(new_key("other.key"), made["public_key"]);
}

// 22 is the exit code of already_exists.
TEST_F(Keys, NewNeverReplaces) {
  new_key("agent.key");
  const std::string before = read("agent.key");
  const Outcome again = run({"keys", "new", "--out", path("agent.key")});
  EXPECT_EQ(again.code, 22);
  EXPECT_THAT(again.err, HasSubstr("agent.key"));
  EXPECT_EQ(read("agent.key"), before);
}

// Not on success and not in an error.
TEST_F(Keys, TheSecretIsNeverPrinted) {
  const Outcome made = run({"keys", "new", "--out", path("agent.key")});
  const Outcome shown = run({"keys", "show", "--key-file", path("agent.key")});
  const std::string secret = secret_of("agent.key");
  ASSERT_EQ(secret.size(), 40u);
  EXPECT_EQ(shown.out, read("agent.key.pub"));
  EXPECT_THAT(made.out + made.err + shown.err, Not(HasSubstr(secret)));
}

// The error has the command that mends it.
TEST_F(Keys, AKeyThatOthersMayReadIsRefused) {
  new_key("agent.key");
  ASSERT_EQ(::chmod(path("agent.key").c_str(), 0644), 0);
  const Outcome outcome = run({"keys", "show", "--key-file", path("agent.key")});
  EXPECT_EQ(outcome.code, 10);
  EXPECT_THAT(outcome.err, HasSubstr("mode 0644; run chmod 600"));
}

// The whole life of two agents in a list. 21 is the exit code of not_found.
TEST_F(Keys, AllowShowRevoke) {
  const std::string key = new_key("a.key");
  EXPECT_EQ(allow("garage-01", key).code, 0);
  new_key("b.key");
  EXPECT_EQ(data({"keys", "allow", "--list", list(), "--id", "roof", "--key-file",
                  path("b.key.pub"), "--comment", "west side"})["id"],
            "roof");
  Json shown = data({"keys", "show", "--list", list()})["allowed"];
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[0], (Json{{"id", "garage-01"}, {"public_key", key}, {"comment", ""}}));
  EXPECT_EQ(shown[1]["comment"], "west side");

  EXPECT_EQ(data({"keys", "revoke", "--list", list(), "--id", "garage-01"})["public_key"], key);
  shown = data({"keys", "show", "--list", list()})["allowed"];
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_EQ(shown[0]["id"], "roof");
  EXPECT_EQ(run({"keys", "revoke", "--list", list(), "--id", "garage-01"}).code, 21);
  EXPECT_EQ(allow("garage-01", key).code, 0) << "and back again";
}

// Exit codes: 2 for usage, 10 for a bad argument, 11 for a damaged file, 21 and 22 for missing and
// existing entries.
TEST_F(Keys, RefusesInvalidArguments) {
  const std::string key = new_key("a.key");
  EXPECT_EQ(allow("garage 01", key).code, 10);
  EXPECT_EQ(allow("garage", "too short").code, 2);
  EXPECT_EQ(run({"keys", "allow", "--list", list(), "--id", "x"}).code, 10);
  EXPECT_EQ(run({"keys", "allow", "--list", list(), "--id", "x", "--key", key, "--key-file",
                 path("a.key.pub")})
                .code,
            10);
  EXPECT_EQ(run({"keys", "show"}).code, 10);
  EXPECT_EQ(run({"keys", "show", "--list", list()}).code, 21);
  ASSERT_EQ(allow("x", key).code, 0);
  EXPECT_EQ(allow("x", new_key("b.key")).code, 22);
  EXPECT_EQ(allow("y", key).code, 22);
  write("agents.allow", bytes_of("nonsense\n"));
  const Outcome broken = run({"keys", "show", "--list", list()});
  EXPECT_EQ(broken.code, 11);
  EXPECT_THAT(broken.err, HasSubstr("agents.allow: line 1"));
}

// A user may pick the wrong one of two files; the secret must not get into a list that is copied.
TEST_F(Keys, ASecretIsNoPublicKey) {
  new_key("a.key");
  EXPECT_EQ(run({"keys", "allow", "--list", list(), "--id", "x", "--key-file", path("a.key")}).code,
            10)
      << "the file with both halves";
}

}  // namespace
}  // namespace tributary
