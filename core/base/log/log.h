// Structured log events for people and programs: the component, the message and named values.
// Libraries never print; they receive a Log.
//
// A log never fails; a line that cannot be written is lost. No call keeps a reference to its
// arguments. An event that is not enabled costs a comparison.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"

namespace tributary {

enum class LogLevel : std::uint8_t { trace, debug, info, warning, error };

// parse_log_level() returns invalid_argument for an unknown name, with the nearest one as remedy.
std::string_view name(LogLevel level);
Result<LogLevel> parse_log_level(std::string_view text);

// The value of a field. It refers to the caller's text, so a field must not outlive the call for
// which it is made.
class LogValue {
 public:
  using Value = std::variant<std::int64_t, std::uint64_t, double, bool, std::string_view>;

  LogValue(bool value) : value_(value) {}
  LogValue(std::signed_integral auto value) : value_(std::int64_t{value}) {}
  LogValue(std::unsigned_integral auto value) : value_(std::uint64_t{value}) {}
  LogValue(std::floating_point auto value) : value_(static_cast<double>(value)) {}
  LogValue(std::string_view value) : value_(value) {}
  LogValue(const char* value) : value_(std::string_view(value)) {}
  LogValue(const std::string& value) : value_(std::string_view(value)) {}

  const Value& get() const { return value_; }

 private:
  Value value_;
};

struct LogField {
  std::string_view key;
  LogValue value;
};

// An event; all texts belong to the caller.
struct LogEvent {
  LogLevel level;
  std::string_view component;
  std::string_view message;
  std::span<const LogField> fields;
};

// The destination of events. Implementations allow calls from any thread.
class Log {
 public:
  virtual ~Log() = default;

  // Whether events of this level are written. Callers may skip expensive fields otherwise.
  virtual bool enabled(LogLevel level) const = 0;
  virtual void write(const LogEvent& event) = 0;

  using Fields = std::initializer_list<LogField>;
  void log(LogLevel level, std::string_view component, std::string_view message,
           Fields fields = {}) {
    if (enabled(level)) write({level, component, message, {fields.begin(), fields.size()}});
  }
  void debug(std::string_view component, std::string_view message, Fields fields = {}) {
    log(LogLevel::debug, component, message, fields);
  }
  void info(std::string_view component, std::string_view message, Fields fields = {}) {
    log(LogLevel::info, component, message, fields);
  }
  void warning(std::string_view component, std::string_view message, Fields fields = {}) {
    log(LogLevel::warning, component, message, fields);
  }
  void error(std::string_view component, std::string_view message, Fields fields = {}) {
    log(LogLevel::error, component, message, fields);
  }
};

// Format an event as one line without a line end. The result is valid UTF-8 for any input: each
// invalid byte becomes U+FFFD. Control characters are escaped, so no value can begin a new line.
//   2026-01-31T12:00:00.000Z warning link: peer is slow peer="agent 3" rtt_ms=41.5
//   {"time":"2026-01-31T12:00:00.000Z","level":"warning","component":"link",
//    "message":"peer is slow","fields":{"peer":"agent 3","rtt_ms":41.5}}
// Numbers without a JSON form are strings: "nan", "inf", "-inf".
std::string text_line(const LogEvent& event, std::chrono::system_clock::time_point time);
std::string json_line(const LogEvent& event, std::chrono::system_clock::time_point time);

struct LogOptions {
  LogLevel level = LogLevel::info;
  bool json = false;
  const Clock* clock = nullptr;  // for the date; must outlive the log; null: the system's clock
};

// Makes a log that writes to stderr, one line per write.
std::unique_ptr<Log> make_stream_log(const LogOptions& options);

}  // namespace tributary
