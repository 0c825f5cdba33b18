// Colours that go by a name: a codec, a collective or a ratio has the same one in every run, page
// and picture, whichever came first.
#pragma once

#include <QColor>
#include <QString>
#include <cstddef>
#include <optional>

namespace tributary::dashboard {

// From here on slots stand for names; those below are given in the order of arrival.
inline constexpr std::size_t kNameSlotsBegin = std::size_t{1} << 16;

// "topk:cr=0.01" and "topk, zstd" are topk: what is set of a codec does not change its colour.
QString name_without_settings(const QString& name);

// A ratio's class ("ratio 0.01 to 0.03"), a codec or a collective, with its settings or without.
// One that is not known here has the same slot always too, and never that of a known one.
std::size_t slot_of_name(const QString& name);

// Curves that a picture has in every run: what was measured, what was predicted, the parts of a
// round. Theirs are slots as those of runs and agents are, but always the same.
std::optional<std::size_t> slot_of_part(const QString& key);

// Of a name's slot. Names fill areas that a text stands on, so that most are paler than lines.
QColor name_colour(std::size_t slot, bool dark);

}  // namespace tributary::dashboard
