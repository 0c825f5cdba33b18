#include "core/service/metrics/note_log.h"

#include <utility>
#include <vector>

namespace tributary {

// Every note is counted. Only notes at warning or above are suppressed.
void NoteLog::note(const Note& note) {
  metrics_.count("tributary_notes_total",
                 {{"name", std::string(note.name)}, {"reason", std::string(note.reason)}});
  if (note.level < LogLevel::warning) return write(note, 0);
  const std::chrono::nanoseconds now = clock_.now();
  Key key(note.name, note.reason, note.source);
  if (recent_.size() >= kSourcesMax && !recent_.contains(key)) {
    forget_old(now);
    // The map is still full of sources of the last minute, so new sources share one entry.
    if (recent_.size() >= kSourcesMax) key = Key(note.name, note.reason, "others");
  }
  const auto [found, fresh] = recent_.try_emplace(std::move(key));
  Recent& recent = found->second;
  if (!fresh && now - recent.logged_at < kQuiet) {
    ++recent.unlogged;
    return;
  }
  write(note, std::exchange(recent.unlogged, 0));
  recent.logged_at = now;
}

void NoteLog::refused(const Refused& refused) {
  note({.level = LogLevel::warning,
        .name = "link_refused",
        .reason = name(refused.reason),
        .source = refused.source.empty() ? "unknown" : refused.source});
}

// `keep` is independent of the log's level, because the journal stores these notes.
void NoteLog::write(const Note& note, std::uint64_t unlogged) {
  if (keep_ && note.level >= LogLevel::info) keep_(note);
  if (!log_.enabled(note.level)) return;
  std::vector<LogField> fields;
  if (!note.reason.empty()) fields.push_back({.key = "reason", .value = note.reason});
  if (!note.source.empty()) fields.push_back({.key = "source", .value = note.source});
  if (note.job != 0) fields.push_back({.key = "job", .value = note.job});
  if (note.round != 0) fields.push_back({.key = "round", .value = note.round});
  if (!note.text.empty()) fields.push_back({.key = "text", .value = note.text});
  if (unlogged != 0) fields.push_back({.key = "unlogged_before", .value = unlogged});
  log_.write({.level = note.level, .component = "round", .message = note.name, .fields = fields});
}

// Runs at most once per minute, which bounds its cost during a flood of sources.
void NoteLog::forget_old(std::chrono::nanoseconds now) {
  if (now - forgot_at_ < kQuiet) return;
  forgot_at_ = now;
  std::erase_if(recent_, [&](const auto& entry) { return now - entry.second.logged_at >= kQuiet; });
}

}  // namespace tributary
