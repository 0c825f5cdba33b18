// Prepares texts for display outside tables. Texts from a run's file are not trusted: agents and
// files may contain anything. No function fails; any thread may call them.
//
// Every text of a run passes through plain_text() before a label shows it: Qt would otherwise
// interpret markup, and control characters could change the direction of the whole line.
#pragma once

#include <QString>
#include <string_view>

namespace tributary::dashboard {

inline constexpr const char* kNoRunOpen =
    "No run is open.\nCtrl+O opens a coordinator's run.db. Ctrl+Shift+O connects to a coordinator "
    "on the network.";

inline constexpr const char* kNoJob = "No job yet. Submit one: tributary job submit JOB.toml";

// Returns the text without control characters, direction marks and line separators, cut after 4000
// characters.
QString plain_text(std::string_view text);

// Formats an identifier as words: "link_changed" becomes "link changed".
QString words_of(std::string_view name);

// Formats a number with separators: 12,345.
QString grouped(unsigned long long number);

}  // namespace tributary::dashboard
