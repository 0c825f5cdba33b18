// Colours for names: a codec, a collective or a ratio has the same colour in every run, page and
// plot, regardless of the order of appearance. All functions are pure.
//
// Constant slots make two pictures of different runs comparable: the order in which names appear
// does not matter. A collision of two unknown names is possible and harmless.
#pragma once

#include <QColor>
#include <QString>
#include <cstddef>
#include <optional>

namespace tributary::dashboard {

// Slots from here on belong to names. Smaller slots are assigned in the order of appearance
// (ColourSlots).
inline constexpr std::size_t kNameSlotsBegin = std::size_t{1} << 16;

// Removes a codec's settings, which do not change its colour: "topk:cr=0.01" and "topk, zstd" give
// "topk".
QString name_without_settings(const QString& name);

// Returns the slot of a class of ratios ("ratio 0.01 to 0.03"), a codec or a collective, with or
// without settings. An unknown name also has a constant slot, which differs from those of all known
// names.
std::size_t slot_of_name(const QString& name);

// Returns the slot of a curve that the plots of every run have: measured, predicted, and the parts
// of a round. It is among the small slots, but constant. Empty for other keys.
std::optional<std::size_t> slot_of_part(const QString& key);

// Returns the colour of a name's slot. These colours fill areas with text on them, so most are
// paler than the colours of lines.
QColor name_colour(std::size_t slot, bool dark);

}  // namespace tributary::dashboard
