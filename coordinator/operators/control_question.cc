#include "coordinator/operators/control_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/nearest.h"
#include "core/service/settings/settings.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 7> kVerbs = {"list", "submit", "pause", "resume",
                                                    "stop", "allow",  "revoke"};

Status bad_question(std::string expected, std::string got) {
  return Status(StatusCode::invalid_argument,
                {.what = "question to the coordinator",
                 .expected = std::move(expected),
                 .got = std::move(got),
                 .remedy = "use a 'tributary' of the coordinator's version"});
}

Result<std::string> text_in(const Json& question, const char* key, bool required = true) {
  const auto found = question.find(key);
  if (found == question.end() && !required) return std::string();
  if (found == question.end() || !found->is_string()) {
    return bad_question(fmt::format("a text named '{}'", key), "none");
  }
  return found->get<std::string>();
}

// A revocation needs only the id, not the key and comment.
Result<AllowedAgent> agent_in(const Json& question, bool to_be_allowed) {
  AllowedAgent agent;
  TRIBUTARY_ASSIGN(agent.id, text_in(question, "agent"));
  TRIBUTARY_TRY(check_agent_id(agent.id));
  if (!to_be_allowed) return agent;
  TRIBUTARY_ASSIGN(const std::string key, text_in(question, "key"));
  TRIBUTARY_ASSIGN(agent.key, parse_public_key(key));
  TRIBUTARY_ASSIGN(agent.comment, text_in(question, "comment", false));
  return agent;
}

}  // namespace

Result<ControlQuestion> read_control_question(std::string_view text) {
  // Parsing without exceptions: damaged text gives a value that is not an object.
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return bad_question("a JSON object", "another text");
  TRIBUTARY_ASSIGN(const std::string verb, text_in(json, "verb"));
  const auto known = std::ranges::find(kVerbs, verb);
  if (known == kVerbs.end()) {
    // Names a similar verb, because the tool and the coordinator may be of different versions.
    return bad_question("a verb of this version: " + did_you_mean(verb, kVerbs), verb);
  }
  ControlQuestion question;
  if (verb == "list") return question;
  if (verb == "allow" || verb == "revoke") {
    question.verb = verb == "allow" ? ControlVerb::allow : ControlVerb::revoke;
    TRIBUTARY_ASSIGN(question.agent, agent_in(json, question.verb == ControlVerb::allow));
    return question;
  }
  TRIBUTARY_ASSIGN(question.job, text_in(json, "job"));
  if (verb == "submit") {
    question.verb = ControlVerb::submit;
    JobSettings job;
    Settings settings;
    bind_job(job, settings, "");
    TRIBUTARY_TRY(settings.read_text(question.job, "the job's file"));
    if (!job.model_file.empty()) {  // relative to the job's file
      TRIBUTARY_ASSIGN(const std::string folder, text_in(json, "folder", false));
      job.model_file = (std::filesystem::path(folder) / job.model_file).string();
    }
    question.job = job.name;
    question.settings = std::move(job);
    return question;
  }
  question.verb = ControlVerb::change;
  question.state = verb == "pause"    ? wire::JobState::paused
                   : verb == "resume" ? wire::JobState::running
                                      : wire::JobState::stopped;
  TRIBUTARY_ASSIGN(question.reason, text_in(json, "reason", false));
  return question;
}

}  // namespace tributary
