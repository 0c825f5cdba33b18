// A log that keeps what is written, for tests to look at. Any thread may log.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/log/log.h"

namespace tributary {

class MemoryLog final : public Log {
 public:
  struct Entry {
    LogLevel level;
    std::string component;
    std::string message;
    std::vector<std::pair<std::string, std::string>> fields;  // values as text_line prints them
  };

  explicit MemoryLog(LogLevel level = LogLevel::trace) : level_(level) {}

  bool enabled(LogLevel level) const override { return level >= level_; }
  void write(const LogEvent& event) override {
    Entry entry{event.level, std::string(event.component), std::string(event.message), {}};
    for (const LogField& field : event.fields) {
      entry.fields.emplace_back(field.key, text_of(field));
    }
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
  }
  std::vector<Entry> entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }

 private:
  // The value after " key=" in a line. Keys are plain words.
  static std::string text_of(const LogField& field) {
    const auto line_of = [](std::span<const LogField> fields) {
      return text_line({.level = LogLevel::info, .component = {}, .message = {}, .fields = fields},
                       {});
    };
    return line_of({&field, 1}).substr(line_of({}).size() + field.key.size() + 2);
  }

  const LogLevel level_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace tributary
