#include "cli/process/tools.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "cli/process/child_process.h"

namespace tributary {
namespace {

// Each is the program tributary-NAME.
constexpr auto kTools = std::to_array<std::string_view>({"lab", "load"});

}  // namespace

// The first word that is no option decides, as in the command line of the program itself.
std::optional<ToolCall> tool_call(const std::vector<std::string>& args) {
  const auto word =
      std::ranges::find_if(args, [](const std::string& arg) { return !arg.starts_with('-'); });
  if (word == args.end() || std::ranges::find(kTools, *word) == kTools.end()) return std::nullopt;
  ToolCall call = {.program = "tributary-" + *word, .args = {args.begin(), word}};
  // Options before the word, such as --json, are passed to the tool too.
  call.args.insert(call.args.end(), word + 1, args.end());
  return call;
}

// Returns only on an error: otherwise the tool has replaced this process.
Status exec_tool(const ToolCall& call) {
  const std::string path = find_own_program("tools", call.program);
  std::vector<std::string> words = call.args;
  words.insert(words.begin(), path);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(path.c_str(), argv.data());
  const int error = errno;
  if (error == ENOENT) {
    return Status(StatusCode::not_found,
                  {.what = fmt::format("the program {}", call.program),
                   .expected = "a file beside this program or on the path",
                   .got = "none",
                   .remedy = "install the package of this program, which contains it"});
  }
  return Status(StatusCode::io_error, {.what = fmt::format("starting {}", path),
                                       .expected = "an executable program",
                                       .got = std::generic_category().message(error),
                                       .remedy = "check the file's permissions"});
}

}  // namespace tributary
