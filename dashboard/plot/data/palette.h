// The colours of plots, which colour-blind people can distinguish on light and dark backgrounds,
// and their assignment to keys.
//
// The functions are pure. ColourSlots is not thread-safe and belongs to one plot group.
#pragma once

#include <QColor>
#include <QPalette>
#include <QString>
#include <cstddef>
#include <map>

namespace tributary::dashboard {

// The colours of everything that belongs to no key.
struct PlotColours {
  bool dark = false;
  QColor ground = {};   // background of everything
  QColor text = {};     //
  QColor faint = {};    // less important text: hidden curves, hints
  QColor axis = {};     //
  QColor grid = {};     //
  QColor cross = {};    // crosshair and zoom frame
  QColor warning = {};  // stragglers and retries
};

// Derives the colours from a palette. They are for a dark background if its base colour is darker
// than its text colour.
PlotColours plot_colours(const QPalette& palette);

// Returns the colour of a slot below kNameSlotsBegin. The first eight are those of Okabe and Ito,
// adjusted to be readable on the background. The next eight are the same in a lighter or darker
// variant, and so on in a cycle of three. name_colours.h has the slots of names.
QColor slot_colour(std::size_t slot, bool dark);

// Slots from here to kNameSlotsBegin are those from 0 on in a paler tone, for a second curve of the
// same key.
inline constexpr std::size_t kPaleSlotsBegin = std::size_t{1} << 15;

// Returns a linear mixture of two colours.
QColor mixed(const QColor& a, const QColor& b, double share_of_b);

// Returns the contrast ratio of WCAG 2: 1 for equal colours, 21 for black on white.
double contrast(const QColor& a, const QColor& b);

// Assigns a permanent slot to each key, in the order of first appearance. Keys with a constant slot
// (slot_of_part in name_colours.h) keep that.
class ColourSlots {
 public:
  static constexpr std::size_t kKeysMax = 4096;  // further keys get a slot from their hash
  std::size_t slot_of(const QString& key);

 private:
  std::map<QString, std::size_t> slots_;
};

}  // namespace tributary::dashboard
