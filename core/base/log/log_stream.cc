// The log of the daemons, written by spdlog.
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "core/base/log/log.h"

namespace tributary {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

class StreamLog final : public Log {
 public:
  explicit StreamLog(const LogOptions& options)
      : json_(options.json),
        clock_(options.clock ? *options.clock : system_clock_),
        logger_("tributary", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    // The lines are complete; spdlog adds nothing.
    logger_.set_pattern("%v");
    logger_.set_level(spdlog_level(options.level));
  }

  bool enabled(LogLevel level) const override { return logger_.should_log(spdlog_level(level)); }

  void write(const LogEvent& event) override {
    const auto time = clock_.wall_time();
    logger_.log(spdlog_level(event.level),
                spdlog::string_view_t(json_ ? json_line(event, time) : text_line(event, time)));
  }

 private:
  const bool json_;
  const SystemClock system_clock_;
  const Clock& clock_;
  spdlog::logger logger_;
};

}  // namespace

std::unique_ptr<Log> make_stream_log(const LogOptions& options) {
  return std::make_unique<StreamLog>(options);
}

}  // namespace tributary
