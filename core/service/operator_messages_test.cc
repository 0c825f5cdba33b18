// Tests of operators' requests and answers as JSON.
#include "core/service/operator_messages.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

TEST(OperatorMessages, QuestionsHaveTheDocumentedForm) {
  EXPECT_EQ(list_question(), R"({"verb":"list"})");
  EXPECT_EQ(submit_question("name = \"a\"", "/jobs"),
            R"({"verb":"submit","job":"name = \"a\"","folder":"/jobs"})");
  EXPECT_EQ(change_question(JobChange::pause, "7", "lunch"),
            R"({"verb":"pause","job":"7","reason":"lunch"})");
  EXPECT_EQ(Json::parse(change_question(JobChange::resume, "7", ""))["verb"], "resume");
  EXPECT_EQ(Json::parse(change_question(JobChange::stop, "7", ""))["verb"], "stop");
  EXPECT_EQ(revoke_question("garage-01"), R"({"verb":"revoke","agent":"garage-01"})");
  const KeyPair keys = make_key_pair().value();
  const Json allow = Json::parse(allow_question({.id = "roof", .key = keys.public_key}));
  EXPECT_EQ(allow["agent"], "roof");
  EXPECT_EQ(parse_public_key(allow["key"].get<std::string>()).value(), keys.public_key);
}

TEST(OperatorMessages, AQuestionMayContainAnyBytes) {
  EXPECT_TRUE(Json::accept(change_question(JobChange::stop, "7", "\xff\xfe\x01")));
}

TEST(OperatorMessages, AnErrorIsReadWithAllItsParts) {
  const Status status = read_operator_answer(R"({"status":"error","error":{"code":"not_found",
      "what":"job '9'","expected":"one that is here","got":"none","remedy":"list the jobs"}})")
                            .status();
  EXPECT_EQ(status.text(),
            "not_found: job '9': expected one that is here, got none; list the jobs");
}

TEST(OperatorMessages, AnAnswerIsItsData) {
  EXPECT_EQ((*read_operator_answer(R"({"status":"ok","data":{"job":7}})"))["job"], 7);
  EXPECT_FALSE(read_operator_answer("").ok());
  EXPECT_FALSE(read_operator_answer("[]").ok());
  EXPECT_FALSE(read_operator_answer("{}").ok());
  EXPECT_EQ(read_operator_answer(R"({"error":7})").status().code(), StatusCode::unavailable);
  EXPECT_EQ(read_operator_answer(R"({"error":{"code":"ok"}})").status().code(),
            StatusCode::unavailable);
}

}  // namespace
}  // namespace tributary
