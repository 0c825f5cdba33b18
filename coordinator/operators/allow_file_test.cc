// Tests of the allow-list of a running daemon, whose file other processes change too.
#include "coordinator/operators/allow_file.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/log/memory_log_testing.h"
#include "core/net/keys/keys.h"
#include "core/store/testing/folder_testing.h"

namespace tributary {
namespace {

using testing::HasSubstr;

class AllowFileTest : public testing::Test {
 protected:
  static PublicKey new_key() { return make_key_pair().value().public_key; }

  store_testing::Folder folder_;
  std::string path_ = folder_ / "agents.allow";
  AllowFile file_{path_, "agents"};
  MemoryLog log_;
};

TEST_F(AllowFileTest, AnOperatorsChangeIsWrittenAndTakesEffectAtOnce) {
  const PublicKey key = new_key();
  ASSERT_EQ(file_.allow({.id = "roof", .key = key}).text(), "ok");
  EXPECT_EQ(file_.list()->id_of(key), "roof");
  EXPECT_EQ(read_allow_file(path_).value().size(), 1u);
  EXPECT_EQ(file_.allow({.id = "roof", .key = new_key()}).code(), StatusCode::already_exists);
  ASSERT_EQ(file_.revoke("roof").text(), "ok");
  EXPECT_FALSE(file_.list()->allows(key));
  EXPECT_TRUE(read_allow_file(path_).value().empty());
  EXPECT_EQ(file_.revoke("roof").code(), StatusCode::not_found);
}

// The list in memory must follow the file even if the revocation itself fails.
TEST_F(AllowFileTest, AnEntryThatAnotherProcessRemovedIsRevokedToo) {
  const PublicKey key = new_key();
  ASSERT_TRUE(file_.allow({.id = "roof", .key = key}).ok());
  ASSERT_TRUE(revoke_in_file(path_, "roof").ok());
  EXPECT_TRUE(file_.list()->allows(key)) << "nobody has said that it is to be read again";
  EXPECT_EQ(file_.revoke("roof").code(), StatusCode::not_found);
  EXPECT_FALSE(file_.list()->allows(key));
}

// A damaged file changes nothing, and further changes are refused.
TEST_F(AllowFileTest, AListThatCannotBeReadStaysAsItWas) {
  const PublicKey key = new_key();
  ASSERT_TRUE(file_.allow({.id = "roof", .key = key}).ok());
  std::ofstream(path_) << "no list\n";
  file_.read_again(log_);
  EXPECT_TRUE(file_.list()->allows(key));
  ASSERT_EQ(log_.entries().size(), 1u);
  EXPECT_EQ(log_.entries()[0].level, LogLevel::error);
  EXPECT_FALSE(file_.allow({.id = "door", .key = new_key()}).ok());
}

TEST_F(AllowFileTest, WithoutEncryptionThereIsNoList) {
  AllowFile none("", "agents");
  EXPECT_TRUE(none.read().ok());
  none.read_again(log_);
  EXPECT_TRUE(log_.entries().empty());
  const Status status = none.allow({.id = "roof", .key = new_key()});
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_THAT(status.text(), HasSubstr("link.encrypted"));
}

}  // namespace
}  // namespace tributary
