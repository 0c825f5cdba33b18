// tributary switch show: prints the jobs and counters of the aggregator on this machine. Asks the
// running tributary-switchd through the socket beside its state file.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/text.h"
#include "core/net/zmq/control.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds kAnswerPatience{10};
constexpr std::string_view kUsualState = "/var/lib/tributary-switchd/epochs";

// A member that is missing or of another type has the value 0 or "": the aggregator may be of
// another version.
std::uint64_t number(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string text(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? printable(found->get<std::string>()) : "";
}

std::string coordinator_text(const Json& answer) {
  const std::string coordinator = text(answer, "coordinator");
  if (coordinator.empty()) return "none: the jobs come from the settings";
  const auto connected = answer.find("connected");
  const bool is = connected != answer.end() && *connected == true;
  return coordinator + (is ? ", connected" : ", not connected");
}

std::string jobs_text(const Json& jobs) {
  Table table({"job", "epoch", "agents", "granularity", "sum bits", "slots", "packet values"});
  for (const Json& job : jobs) {
    if (!job.is_object()) continue;
    table.add({count_text(number(job, "handle")), count_text(number(job, "epoch")),
               count_text(number(job, "agents")), count_text(number(job, "granularity")),
               count_text(number(job, "sum_bits")), count_text(number(job, "slots")),
               count_text(number(job, "packet_values"))});
  }
  return jobs.empty() ? "no job has an epoch\n" : table.text();
}

// Reasons without a packet are left out.
std::string drops_text(const Json& drops) {
  std::string all;
  for (const auto& [reason, packets] : drops.items()) {
    if (packets.is_number_unsigned() && packets != 0) {
      all += fmt::format("{}{} {}", all.empty() ? "" : ", ", printable(reason),
                         count_text(packets.get<std::uint64_t>()));
    }
  }
  return all.empty() ? "none" : all;
}

std::string answer_text(const Json& answer) {
  const auto member = [&](std::string_view key) {
    const auto found = answer.find(key);
    return found == answer.end() ? Json() : *found;
  };
  return fmt::format(
      "address        {}\n"
      "coordinator    {}\n"
      "slots          {} of {} free\n"
      "contributions  {} added, {} repeated\n"
      "results        {} complete, {} sent again\n"
      "refusals       {}\n"
      "dropped        {}\n\n{}",
      text(answer, "address"), coordinator_text(answer), count_text(number(answer, "slots_free")),
      count_text(number(answer, "slots")), count_text(number(answer, "contributions")),
      count_text(number(answer, "repeats")), count_text(number(answer, "results")),
      count_text(number(answer, "resent")), count_text(number(answer, "refusals")),
      drops_text(member("drops")), jobs_text(member("jobs")));
}

Result<Answer> show(const std::string& state) {
  const Result<std::string> asked = ask_daemon(control_path(state), "show", kAnswerPatience);
  if (asked.status().code() == StatusCode::unavailable) {
    return Status(StatusCode::unavailable,
                  {.what = fmt::format("tributary-switchd with the state file '{}'", state),
                   .expected = "a running process",
                   .got = asked.status().fault().got,
                   .remedy = "start it, or name its setting switch.state with --state"});
  }
  if (!asked.ok()) return asked.status();
  const Json answer = Json::parse(*asked, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) {
    return Status(StatusCode::corrupt_data, {.what = "the answer of tributary-switchd",
                                             .expected = "a JSON object",
                                             .got = printable(asked->substr(0, 80))});
  }
  Answer shown;
  shown.text = answer_text(answer);
  shown.data = json_text(answer);
  return shown;
}

}  // namespace

Command switch_show_command() {
  const auto state = std::make_shared<std::string>(kUsualState);
  return {
      .noun = "switch",
      .verb = "show",
      .summary = "print the jobs and counters of the aggregator on this machine",
      .details =
          "Asks the running tributary-switchd through the socket beside its state file, so only "
          "its user\nand root may do it.\n\n"
          "examples:\n"
          "  tributary switch show\n"
          "  tributary switch show --state epochs --json",
      .options = {{.name = "--state",
                   .value_name = "FILE",
                   .help = fmt::format("the setting switch.state ({})", kUsualState),
                   .accept = accept_file(*state)}},
      .run = [state](World&) { return show(*state); }};
}

}  // namespace tributary
