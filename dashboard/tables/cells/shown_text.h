// Texts of a file that anybody may have written, made fit for a cell: one line, of bounded length,
// and nothing in it that moves, hides or turns round what stands beside it.
#pragma once

#include <QString>
#include <string_view>

namespace tributary::dashboard {

inline constexpr qsizetype kShownCharactersMax = 400;

// As it is, for files and searches; what is not UTF-8 becomes U+FFFD.
QString whole_text(std::string_view text);
// The end of a line becomes "⏎", a tab "⇥", other control characters and signs of direction U+FFFD,
// and the end of a long text "…".
QString shown_text(std::string_view text);
// For a tool tip, which would take a text with tags for one to be laid out.
QString tip_text(const QString& text);

// -1, 0, 1: digits by the number that they are, so that agent-2 comes before agent-10; letters
// without regard to their case, unless that is all that differs.
int compare_naturally(std::string_view a, std::string_view b);

}  // namespace tributary::dashboard
