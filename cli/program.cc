#include "cli/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include "cli/command_line.h"
#include "cli/envelope.h"
#include "cli/process/process.h"
#include "cli/text.h"
#include "core/base/exit_codes.h"

namespace tributary {
namespace {

// Errors are one line on standard error. Their texts may contain words of the user, which must not
// control the terminal.
void complain(std::string_view text) {
  write_all(STDERR_FILENO, fmt::format("tributary: {}\n", printable(text)));
}

// Returns `code` if the text could be written.
int print(const std::string& text, int code) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0) return code;
  // The reader has closed the pipe, for example `head`. That is not an error to report.
  if (error == EPIPE) return kExitSignal + SIGPIPE;
  if (stop_signal() != 0) return kExitSignal + stop_signal();
  complain("writing to standard output: " + std::generic_category().message(error));
  return kExitSystem;
}

// With --json an error is an answer on standard output too, so that programs read one stream.
int fail(const Status& status, int code, bool json) {
  if (json) return print(json_error(name(status.code()), status.fault()), code);
  complain(status.text());
  return code;
}

// An exception that no command expects is a bug, not an error of the user.
int fail_within(const char* what, bool json) {
  const Fault fault = {.what = what, .remedy = "this is a bug in the program: please report it"};
  if (json) return print(json_error("internal", fault), kExitInternal);
  complain(fmt::format("internal: {}; {}", fault.what, fault.remedy));
  return kExitInternal;
}

// Commands write files atomically, so nothing is left behind.
Status interrupted() {
  return Status(StatusCode::cancelled,
                {.what = fmt::format("stopped by {}", ::strsignal(stop_signal())),
                 .remedy = "no partial output remains"});
}

// Output goes to standard output and progress to standard error, so that a pipe gets only the
// answer.
int run_command(const Command& command, bool json) {
  const SystemClock clock;
  Progress progress(STDERR_FILENO, clock);
  World world = {.clock = clock, .progress = progress};
  const Result<Answer> answer = command.run(world);
  progress.clear();
  if (answer.ok())
    return print(json ? json_answer(answer.value().data) : answer.value().text,
                 answer.value().exit_code);
  const Status status = answer.status();
  // Commands return `cancelled` after a stop signal; the exit code must name the signal.
  if (status.code() == StatusCode::cancelled && stop_signal() != 0) {
    return fail(interrupted(), kExitSignal + stop_signal(), json);
  }
  return fail(status, exit_code(status.code()), json);
}

}  // namespace

int run_program(std::span<const Noun> nouns, std::span<const Command> commands,
                const std::vector<std::string>& args) {
  // Decided before parsing: an error of the command line itself must be JSON too if the caller
  // asked for it.
  const bool json = asks_for_json(args);
  try {
    const Result<CommandLine> line = parse_command_line(nouns, commands, args);
    if (!line.ok()) return fail(line.status(), kExitUsage, json);
    if (line.value().command == nullptr) return print(line.value().text, kExitOk);
    return run_command(*line.value().command, line.value().json);
  } catch (const std::bad_alloc&) {
    return fail(Status(StatusCode::resource_exhausted,
                       {.what = "memory",
                        .got = "none left",
                        .remedy = "use smaller buckets (--bucket-values) or fewer threads"}),
                exit_code(StatusCode::resource_exhausted), json);
  } catch (const std::exception& error) {
    return fail_within(error.what(), json);
  }
}

// For errors before a command is known.
int fail_program(const Status& status, const std::vector<std::string>& args) {
  return fail(status, exit_code(status.code()), asks_for_json(args));
}

}  // namespace tributary
