#include "core/service/operator_messages.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// Text from a command line or a file may not be valid UTF-8.
std::string question_text(const Json& question) {
  return question.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string_view verb_of(JobChange change) {
  switch (change) {
    case JobChange::pause:
      return "pause";
    case JobChange::resume:
      return "resume";
    case JobChange::stop:
      return "stop";
  }
  return "";
}

// Converts the error object of an answer. An unknown code is read as unavailable.
Status operator_error(const Json& error) {
  const auto text = [&](const char* key) {
    const auto found = error.find(key);
    return found != error.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  constexpr auto kLast = static_cast<int>(kLastStatusCode);
  StatusCode code = StatusCode::unavailable;  // for codes of other versions
  for (int i = 1; i <= kLast; ++i) {
    if (name(static_cast<StatusCode>(i)) == text("code")) code = static_cast<StatusCode>(i);
  }
  return {code,
          {.what = text("what"),
           .expected = text("expected"),
           .got = text("got"),
           .remedy = text("remedy")}};
}

}  // namespace

std::string list_question() { return question_text({{"verb", "list"}}); }

std::string submit_question(std::string_view toml, std::string_view folder) {
  return question_text({{"verb", "submit"}, {"job", toml}, {"folder", folder}});
}

std::string change_question(JobChange change, std::string_view job, std::string_view reason) {
  return question_text({{"verb", verb_of(change)}, {"job", job}, {"reason", reason}});
}

std::string allow_question(const AllowedAgent& agent) {
  return question_text({{"verb", "allow"}, {"agent", agent.id}, {"key", key_text(agent.key)}});
}

std::string revoke_question(std::string_view agent_id) {
  return question_text({{"verb", "revoke"}, {"agent", agent_id}});
}

// An answer is {"data": ...} or {"error": {code, what, expected, got, remedy}}.
Result<Json> read_operator_answer(std::string_view text) {
  const Json answer = Json::parse(text, nullptr, false);
  if (answer.is_object() && answer.contains("data")) return answer["data"];
  if (answer.is_object() && answer.contains("error")) return operator_error(answer["error"]);
  return Status(StatusCode::corrupt_data, {.what = "the coordinator's answer",
                                           .expected = "a JSON object with data or an error",
                                           .got = "another text",
                                           .remedy = "use a coordinator of the same version"});
}

}  // namespace tributary
