// The join file of an agent, created on the command line.
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
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class KeysJoin : public ProgramTest {
 protected:
  KeysJoin() { EXPECT_EQ(run({"keys", "new", "--out", path("coordinator.key")}).code, 0); }

  Outcome join(const std::string& id, const std::vector<std::string>& more = {},
               const std::string& endpoint = "tcp://coordinator.lan:4640") const {
    std::vector<std::string> args = {"keys",
                                     "join",
                                     id,
                                     "--coordinator",
                                     endpoint,
                                     "--list",
                                     list(),
                                     "--coordinator-key-file",
                                     path("coordinator.key.pub")};
    if (more.empty()) args.insert(args.end(), {"--out", path(id + ".join")});
    args.insert(args.end(), more.begin(), more.end());
    return run(args);
  }
  std::string list() const { return path("agents.allow"); }
  // Returns the quoted value after `name`.
  std::string in_file(const std::string& file, const std::string& name) const {
    const std::string text = read(file);
    const std::size_t begin = text.find("\n" + name + " = \"") + name.size() + 5;
    return text.substr(begin, text.find('"', begin) - begin);
  }
};

TEST_F(KeysJoin, MakesOneFileAndAllowsTheAgent) {
  const Outcome outcome =
      join("garage-01", {"--out", path("g.join"), "--comment", "west side", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const Json data = Json::parse(outcome.out)["data"];
  EXPECT_THAT(names(),
              ElementsAre("agents.allow", "coordinator.key", "coordinator.key.pub", "g.join"));
  EXPECT_EQ(data["id"], "garage-01");
  EXPECT_EQ(data["join_file"], path("g.join"));
  EXPECT_EQ(data["list"], list());
  EXPECT_EQ(in_file("g.join", "agent_id"), "garage-01");
  EXPECT_EQ(in_file("g.join", "coordinator"), "tcp://coordinator.lan:4640");
  EXPECT_EQ(in_file("g.join", "coordinator_key") + "\n", read("coordinator.key.pub"));
  EXPECT_EQ(in_file("g.join", "public_key"), data["public_key"]);
  EXPECT_THAT(read("agents.allow"),
              HasSubstr("garage-01 " + data["public_key"].get<std::string>()));
  EXPECT_THAT(read("agents.allow"), HasSubstr("west side"));
  struct stat about {};
  ASSERT_EQ(::stat(path("g.join").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST_F(KeysJoin, TheSecretIsNotPrinted) {
  const Outcome outcome = join("roof");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string secret = in_file("roof.join", "secret_key");
  ASSERT_EQ(secret.size(), 40u);
  EXPECT_THAT(outcome.out + outcome.err,
              AllOf(Not(HasSubstr(secret)), HasSubstr("systemctl reload")));
  EXPECT_THAT(read("agents.allow"), Not(HasSubstr(secret)));
}

TEST_F(KeysJoin, ReplacesNothing) {
  ASSERT_EQ(join("roof").code, 0);
  const std::string file = read("roof.join");
  const std::string allowed = read("agents.allow");
  EXPECT_EQ(join("roof").code, 22) << "the file is there";
  EXPECT_EQ(join("cellar", {"--out", path("roof.join")}).code, 22);
  EXPECT_EQ(join("roof", {"--out", path("again.join")}).code, 22) << "the agent is on the list";
  EXPECT_EQ(read("roof.join"), file);
  EXPECT_EQ(read("agents.allow"), allowed);
  EXPECT_THAT(names(), Not(testing::Contains("again.join")));
}

TEST_F(KeysJoin, AnInvalidCommandWritesNothing) {
  EXPECT_EQ(join("garage 01", {"--out", path("x.join")}).code, 10);
  for (const char* endpoint : {"coordinator.lan:4640", "tcp://*:4640", "tcp://coordinator.lan"}) {
    const Outcome outcome = join("x", {}, endpoint);
    EXPECT_EQ(outcome.code, 10) << endpoint;
    EXPECT_THAT(outcome.err, HasSubstr("tcp://HOST:PORT"));
  }
  EXPECT_EQ(run({"keys", "join", "x", "--coordinator", "tcp://a:1", "--list", list(),
                 "--coordinator-key-file", path("none"), "--out", path("x.join")})
                .code,
            21);
  EXPECT_EQ(join("x", {"--out", path("no/such/folder")}).code, 21);
  write("agents.allow", bytes_of("nonsense\n"));
  EXPECT_EQ(join("x").code, 11);
  EXPECT_THAT(names(), ElementsAre("agents.allow", "coordinator.key", "coordinator.key.pub"));
}

}  // namespace
}  // namespace tributary
