// The command `tributary lab down`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/accept.h"
#include "cli/json.h"
#include "core/lab/lab_names.h"
#include "tools/lab/lab_commands.h"
#include "tools/lab/lab_kernel.h"
#include "tools/lab/lab_state.h"

namespace tributary {
namespace {

// The options; `all` ignores the name.
struct LabDown {
  std::string name = "lab";
  bool all = false;
};

// Labs are found by their namespaces and by their descriptions, since a crash may leave either of
// them alone. All labs are tried; the first error is reported.
Result<Answer> down(const LabDown& command) {
  TRIBUTARY_TRY(check_lab_is_possible());
  TRIBUTARY_ASSIGN(const LabLock lock, LabLock::take());
  const auto labs = find_labs();
  std::set<std::string> names;
  for (const auto& [name, lab] : labs) names.insert(name);
  for (const std::string& name : lab_state_names()) names.insert(name);
  if (!command.all) {
    const bool there = names.contains(command.name);
    names.clear();
    if (there) names.insert(command.name);
  }
  Status first;
  for (const std::string& name : names) {
    const auto found = labs.find(name);
    Status removed = found == labs.end() ? Status() : remove_namespaces(name, found->second);
    // A description without namespaces would hide that something remains.
    if (removed.ok()) remove_lab_state(name);
    if (first.ok()) first = std::move(removed);
  }
  TRIBUTARY_TRY(first);
  return Answer{.text = names.empty() ? "no lab to remove\n"
                                      : fmt::format("taken down: {}\n", fmt::join(names, " ")),
                .data = json_text(nlohmann::ordered_json{{"removed", names}})};
}

}  // namespace

Command lab_down_command() {
  const auto command = std::make_shared<LabDown>();
  return {.noun = "lab",
          .verb = "down",
          .summary = "remove a lab and end the programs in it",
          .details =
              "Ends the programs that still run in the nodes. Also removes the remains of a\n"
              "crash. It is no error if there is no such lab.\n\n"
              "examples:\n"
              "  tributary lab down\n"
              "  tributary lab down --name far\n"
              "  tributary lab down --all",
          .options = {{.name = "--name",
                       .value_name = "NAME",
                       .help = "name of the lab (lab)",
                       .accept = [command](const std::string& value) -> Status {
                         command->name = value;
                         return check_lab_name(value);
                       }},
                      {.name = "--all",
                       .value_name = {},
                       .help = "remove every lab on this machine",
                       .accept = accept_flag(command->all)}},
          .run = [command](World&) { return down(*command); }};
}

}  // namespace tributary
