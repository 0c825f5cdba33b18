#include "core/service/settings/common_settings.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <ostream>

#include "core/base/bytes/heap.h"
#include "core/base/exit_codes.h"

namespace tributary {

void CommonSettings::bind_log(Settings& settings) {
  settings.text("log.level", log_level);
  settings.flag("log.json", log_json);
}

void CommonSettings::bind_outlets(Settings& settings) {
  bind_log(settings);
  settings.text("metrics.listen", metrics_listen);
  settings.number("stop.grace_ms", stop_grace_ms, 0u, 600'000u);
}

void CommonSettings::bind(Settings& settings) {
  bind_outlets(settings);
  settings.number("threads", threads, 0u, 1'024u);
}

void CommonSettings::settle_threads(std::size_t processors, std::size_t training) {
  constexpr std::size_t kChosenMax = 16;
  if (threads != 0) return;
  const std::size_t left = processors > training ? processors - training : 1;
  threads = static_cast<std::uint32_t>(std::min(left, kChosenMax));
}

Result<LogOptions> CommonSettings::log_options() const {
  TRIBUTARY_ASSIGN(const LogLevel level, parse_log_level(log_level));
  return LogOptions{.level = level, .json = log_json};
}

Result<DaemonFlags> parse_daemon_flags(const DaemonAbout& about, int argc, char** argv) {
  DaemonFlags flags;
  CLI::App app(about.summary, about.program);
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", about.program + " " + TRIBUTARY_VERSION, "print the version");
  app.footer(about.details + (about.details.empty() ? "" : "\n\n") +
             "A setting in --set overrides the one in --config. docs/run.md describes every "
             "setting with its\n"
             "unit and default.\n\n"
             "examples:\n" +
             about.examples);
  app.add_option("-c,--config", flags.config, "settings, a TOML file")->type_name("FILE");
  app.add_option("-s,--set", flags.assignments,
                 "a further setting, for example log.level=debug; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (about.takes_job) {
    app.add_option("--job", flags.job,
                   "job to start with, a TOML file; ignored if submitted before")
        ->type_name("FILE");
  }
  if (about.takes_join) {
    app.add_option("--join", flags.join, "join file of this agent, made by 'tributary keys join'")
        ->type_name("FILE");
  }
  if (about.takes_json) {
    app.add_flag("--json", flags.json, "print the counters as JSON at SIGHUP and at the end");
  } else {
    app.add_flag("--exit-when-done", flags.exit_when_done, "end when all jobs are done");
  }
  app.add_flag("--check", flags.check, "check the settings and end");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    flags.answer = app.help();
  } catch (const CLI::CallForVersion&) {
    flags.answer = app.version() + "\n";
  } catch (const CLI::Error& error) {
    return Status(StatusCode::invalid_argument,
                  {.what = error.what(), .remedy = fmt::format("see '{} --help'", about.program)});
  }
  return flags;
}

Status fill(Settings& settings, const DaemonFlags& flags) {
  if (!flags.config.empty()) TRIBUTARY_TRY(settings.read_file(flags.config));
  for (const std::string& assignment : flags.assignments) {
    TRIBUTARY_TRY(settings.assign(assignment));
  }
  return {};
}

int daemon_main(const DaemonAbout& about, int argc, char** argv, std::ostream& out,
                std::ostream& err, const std::function<Status(const DaemonFlags& flags)>& run) {
  share_heap();
  map_blocks_from(about.mapped_block_bytes_min);
  const auto complain = [&](const std::string& text) {
    err << about.program << ": " << text << std::endl;
  };
  try {
    const Result<DaemonFlags> flags = parse_daemon_flags(about, argc, argv);
    if (!flags.ok()) {
      complain(flags.status().text());
      return kExitUsage;
    }
    if (!flags->answer.empty()) {
      out << flags->answer;
      return kExitOk;
    }
    const Status status = run(*flags);  // the daemon runs here until it ends
    if (!status.ok()) complain(status.text());
    return exit_code(status.code());
    // No exception leaves main(): each becomes an error text and an exit code.
  } catch (const std::bad_alloc&) {
    complain("resource_exhausted: memory: none left");
    return exit_code(StatusCode::resource_exhausted);
  } catch (const std::exception& error) {
    complain(std::string("internal: ") + error.what());
    return kExitInternal;
  }
}

const char* build_version() { return TRIBUTARY_VERSION; }

Result<std::uint64_t> draw_incarnation() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) != static_cast<ssize_t>(sizeof(number))) {
    return Status(StatusCode::io_error, {.what = "the system's random numbers",
                                         .expected = "8 bytes",
                                         .got = "fewer",
                                         .remedy = {}});
  }
  return number | 1;  // the lowest bit is set, so that the number is not 0
}

// Without encryption the key only names the peer in the journal, so a new one per start suffices.
Result<KeyPair> keys_for(const std::string& file, bool encrypted) {
  if (encrypted || !file.empty()) return read_key_pair(file);
  return make_key_pair();
}

}  // namespace tributary
