// Texts of a run's file as a person may be shown them: what an agent or a file says may be
// anything.
#pragma once

#include <QString>
#include <string_view>

namespace tributary::dashboard {

inline constexpr const char* kNoRunOpen =
    "No run is open.\nCtrl+O opens a coordinator's run.db, Ctrl+Shift+O connects to a coordinator "
    "elsewhere.";

// Without what moves the cursor, turns the direction of writing or is not to be seen, and not
// endless.
QString plain_text(std::string_view text);

// "link_changed" as "link changed".
QString words_of(std::string_view name);

// 12,345.
QString grouped(unsigned long long number);

}  // namespace tributary::dashboard
