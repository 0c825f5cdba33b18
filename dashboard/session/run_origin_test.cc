// Tests of the names and keys of runs, by which the same run is recognized when it is opened twice.
#include "dashboard/session/run_origin.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/store/testing/folder_testing.h"

namespace tributary::dashboard {
namespace {

class RunOriginTest : public testing::Test {
 protected:
  std::string write_join(const std::string& name, const KeyPair& coordinator) {
    std::string path = folder_ / name;
    EXPECT_EQ(write_join_file(path, {.agent_id = "anna",
                                     .coordinator = "tcp://coordinator.lan:4641",
                                     .coordinator_key = coordinator.public_key,
                                     .keys = make_key_pair().value()})
                  .text(),
              "ok");
    return path;
  }

  store_testing::Folder folder_;
};

TEST_F(RunOriginTest, AFileIsNamedByItsFolderAndName) {
  const RunOrigin origin = origin_of_file("monday/run.db");
  EXPECT_EQ(origin.name, "run.db");
  EXPECT_EQ(origin.longer_name, "monday/run.db");
  EXPECT_EQ(origin.place, "monday/run.db");
  EXPECT_FALSE(origin.across_network);
  EXPECT_EQ(origin.key, origin_of_file("./monday/../monday/run.db").key);
  EXPECT_NE(origin.key, origin_of_file("run.db").key);
}

TEST_F(RunOriginTest, AConnectionIsIdentifiedByEndpointAndKey) {
  const KeyPair coordinator = make_key_pair().value();
  const std::string first = write_join("first.join", coordinator);
  const Result<RunOrigin> origin = origin_of_join_file(first, "");
  ASSERT_TRUE(origin.ok()) << origin.status().text();
  EXPECT_EQ(origin->name, "coordinator.lan:4641");
  EXPECT_EQ(origin->place, "tcp://coordinator.lan:4641");
  EXPECT_TRUE(origin->across_network);
  const std::string second = write_join("second.join", coordinator);
  EXPECT_EQ(origin_of_join_file(second, "")->key, origin->key) << "whoever looks, it is one run";
  EXPECT_NE(origin_of_join_file(first, "tcp://127.0.0.1:4641")->key, origin->key);
  const std::string other = write_join("other.join", make_key_pair().value());
  EXPECT_NE(origin_of_join_file(other, "")->key, origin->key);
  EXPECT_NE(origin_of_join_file(other, "")->longer_name, origin->longer_name);
}

TEST_F(RunOriginTest, ErrorsNameARemedy) {
  const std::string path = write_join("anna.join", make_key_pair().value());
  const Status no_endpoint = origin_of_join_file(path, "coordinator.lan").status();
  EXPECT_EQ(no_endpoint.code(), StatusCode::invalid_argument);
  EXPECT_NE(no_endpoint.text().find("coordinator.lan"), std::string::npos) << no_endpoint.text();
  const Status none = origin_of_join_file(folder_ / "none.join", "").status();
  EXPECT_EQ(none.code(), StatusCode::not_found);
  EXPECT_FALSE(none.fault().remedy.empty());
  std::filesystem::permissions(path, std::filesystem::perms::group_read,
                               std::filesystem::perm_options::add);
  const Status readable = origin_of_join_file(path, "").status();
  EXPECT_EQ(readable.code(), StatusCode::invalid_argument);
  EXPECT_NE(readable.fault().remedy.find("chmod 600"), std::string::npos);
}

}  // namespace
}  // namespace tributary::dashboard
