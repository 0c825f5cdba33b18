// Converts texts from a run's file into texts that are safe to show in a table cell: one line, of
// bounded length, without characters that move the cursor, hide text or change its direction.
//
// The texts come from agents and from files, so their content is not trusted. The functions accept
// any bytes, never fail and have no state: any thread may call them.
#pragma once

#include <QString>
#include <string_view>

namespace tributary::dashboard {

// Longest result of shown_text(), in UTF-16 code units.
inline constexpr qsizetype kShownCharactersMax = 400;

// Returns the complete text, for exported files and for the filter. Line feeds, control characters
// and direction marks stay in it. Bytes that are not UTF-8 become U+FFFD.
QString whole_text(std::string_view text);
// Returns the text as one line of at most kShownCharactersMax units. A line feed becomes "⏎", a tab
// "⇥", other control characters and direction marks U+FFFD; a text that is too long ends in "…".
QString shown_text(std::string_view text);
// Returns HTML that shows the text literally: tags and entities in it are escaped. Qt would
// interpret tags in a plain tool tip. Only the first 2000 units are kept. An empty text stays
// empty.
QString tip_text(const QString& text);

// Compares two texts for sorting and returns -1, 0 or 1. Digits compare by their numeric value, so
// that agent-2 precedes agent-10. Letters compare without their case, unless the texts differ in
// nothing else.
int compare_naturally(std::string_view a, std::string_view b);

}  // namespace tributary::dashboard
