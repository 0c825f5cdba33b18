// The settings and command-line flags that both daemons share.
//
// Precedence: the defaults here, then the file, then assignments on the command line. Each value is
// checked when it is set; combinations are checked by the daemon's own settings. One thread, at the
// start.
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

// Settings of both daemons.
struct CommonSettings {
  std::string log_level = "info";
  bool log_json = false;
  std::string metrics_listen;  // empty: off
  std::uint32_t stop_grace_ms = 10'000;
  // Threads of codecs and optimizer steps, the daemon's loop among them; 0: settle_threads()
  // chooses.
  std::uint32_t threads = 0;

  // Binds log.level and log.json.
  void bind_log(Settings& settings);
  // Binds these, metrics.listen and stop.grace_ms, for a daemon without codecs.
  void bind_outlets(Settings& settings);
  // Binds these and threads.
  void bind(Settings& settings);
  Result<LogOptions> log_options() const;
  // Replaces 0 threads by the processors that `training` threads leave: at least 1, and at most 16,
  // because a few cores use all of the memory's bandwidth.
  void settle_threads(std::size_t processors, std::size_t training);
};

// A parsed command line.
struct DaemonFlags {
  std::string config;                    // path of a TOML file; empty: none
  std::vector<std::string> assignments;  // KEY=VALUE
  std::string job;                       // path of a job's TOML file; empty: none
  std::string join;                      // path of a join file; empty: none
  bool exit_when_done = false;           // end when the job is done
  bool check = false;                    // check the settings and exit
  bool json = false;                     // print counters as JSON
  std::string answer;                    // a help text or a version to print instead of running
};

// The properties of a daemon that determine its flags and its help text.
struct DaemonAbout {
  std::string program;
  std::string summary;
  std::string details = {};  // paragraphs of the help text before the examples; may be empty
  std::string examples;      // lines of the help text, each indented by two blanks
  bool takes_job = false;    // has the flag --job
  bool takes_join = false;   // has the flag --join
  bool takes_json = false;   // has the flag --json, and serves until it is stopped
  std::size_t mapped_block_bytes_min = std::size_t{2} << 20;  // see map_blocks_from()
};

// Returns invalid_argument for an unknown or incomplete flag.
Result<DaemonFlags> parse_daemon_flags(const DaemonAbout& about, int argc, char** argv);

// Reads the file first and then the assignments, which override it.
Status fill(Settings& settings, const DaemonFlags& flags);

// The main() of a daemon. Parses the flags, calls `run` and returns the exit code for its status.
// Errors are written to `err`. It also sets malloc's options for the process.
int daemon_main(const DaemonAbout& about, int argc, char** argv, std::ostream& out,
                std::ostream& err, const std::function<Status(const DaemonFlags& flags)>& run);

// Returns the version of this build, for example "0.1.0". Daemons report it to each other.
const char* build_version();

// Returns a random number that is never 0. Returns io_error if the system has no random numbers.
Result<std::uint64_t> draw_incarnation();

// Reads the key pair from the file. Makes a new pair if the link is not encrypted and no file is
// given.
Result<KeyPair> keys_for(const std::string& file, bool encrypted);

}  // namespace tributary
