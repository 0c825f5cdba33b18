// The settings of a daemon's journal, which both daemons share.
//
// One thread, at the start.
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/service/settings/settings.h"
#include "core/store/durability/durability.h"

namespace tributary {

class JournalSettings {
 public:
  std::string file;

  // Binds journal.file, journal.durability, and journal.sync, which is an earlier name: true is
  // "round", false is "stop". The object must stay where it is until settle().
  void bind(Settings& settings);
  // After all settings are read. Fails with invalid_argument, naming the setting, if there is no
  // file (`contents` says what it is for), if the value is unknown, or if both names are given.
  Status settle(const Settings& settings, std::string_view contents);

  Durability durability() const { return durability_; }

 private:
  std::string name_;
  bool sync_ = true;
  Durability durability_ = Durability::seconds_30;
};

}  // namespace tributary
