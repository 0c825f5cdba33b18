// What both daemons can be told, and how they are told it.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log/log.h"
#include "core/base/status.h"
#include "core/net/keys/keys.h"
#include "core/service/settings/settings.h"

namespace tributary {

struct CommonSettings {
  std::string log_level = "info";
  bool log_json = false;
  std::string metrics_listen;  // empty: off
  std::uint32_t stop_grace_ms = 10'000;

  void bind(Settings& settings);
  Result<LogOptions> log_options() const;
};

// A command line, taken apart.
struct DaemonFlags {
  std::string config;
  std::vector<std::string> assignments;  // KEY=VALUE
  std::string job;
  std::string join;
  bool exit_when_done = false;
  bool check = false;
  std::string answer;  // a help text or a version: print it, and that is all
};

struct DaemonAbout {
  std::string program;
  std::string summary;
  bool takes_job = false;
  bool takes_join = false;
};

Result<DaemonFlags> parse_daemon_flags(const DaemonAbout& about, int argc, char** argv);

// First the file, then the assignments.
Status fill(Settings& settings, const DaemonFlags& flags);

// A daemon's main(): `run` does what the flags say, and how it ends becomes the exit code. Errors
// go to `err`.
int daemon_main(const DaemonAbout& about, int argc, char** argv, std::ostream& out,
                std::ostream& err, const std::function<Status(const DaemonFlags& flags)>& run);

// Drawn at random, never 0.
Result<std::uint64_t> draw_incarnation();

// The pair in the file; without encryption and without a file, a fresh one.
Result<KeyPair> keys_for(const std::string& file, bool encrypted);

}  // namespace tributary
