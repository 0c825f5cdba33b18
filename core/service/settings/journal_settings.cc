#include "core/service/settings/journal_settings.h"

#include <fmt/format.h>

namespace tributary {

void JournalSettings::bind(Settings& settings) {
  settings.text("journal.file", file);
  settings.text("journal.durability", name_);
  settings.flag("journal.sync", sync_);
}

Status JournalSettings::settle(const Settings& settings, std::string_view contents) {
  if (file.empty()) {
    return settings.missing("journal.file", fmt::format("name the file that keeps {}", contents));
  }
  const bool named = settings.given("journal.durability");
  if (settings.given("journal.sync")) {
    if (named) {
      return Status(StatusCode::invalid_argument,
                    {.what = "setting journal.sync",
                     .expected = "journal.sync or journal.durability, not both",
                     .got = "both",
                     .remedy = "leave out journal.sync, the earlier name"});
    }
    durability_ = sync_ ? Durability::round : Durability::stop;
  }
  if (!named) return {};
  Result<Durability> durability = durability_named(name_);
  if (!durability.ok()) return durability.status().at("setting journal.durability");
  durability_ = *durability;
  return {};
}

}  // namespace tributary
