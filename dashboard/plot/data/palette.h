// Colours that colour-blind people tell apart, on light and on dark ground, and who has which.
#pragma once

#include <QColor>
#include <QPalette>
#include <QString>
#include <cstddef>
#include <map>

namespace tributary::dashboard {

struct PlotColours {
  bool dark = false;
  QColor ground = {};   // behind everything
  QColor text = {};     //
  QColor faint = {};    // text that matters less: hidden curves, hints
  QColor axis = {};     //
  QColor grid = {};     //
  QColor cross = {};    // crosshair and the frame of a zoom
  QColor warning = {};  // stragglers and retries
};

PlotColours plot_colours(const QPalette& palette);

// The colour of a slot. The first eight are Okabe and Ito's, made readable on the ground; the next
// eight are the same, lighter or darker, and so on in a circle of three. Slots of names are in
// name_colours.h.
QColor slot_colour(std::size_t slot, bool dark);

QColor mixed(const QColor& a, const QColor& b, double share_of_b);

// Contrast of two colours after WCAG 2: 1 for the same, 21 for black on white.
double contrast(const QColor& a, const QColor& b);

// Gives every key a slot, in the order of their first appearance, for good; but for those that have
// theirs from the beginning (slot_of_part in name_colours.h).
class ColourSlots {
 public:
  static constexpr std::size_t kKeysMax = 4096;  // those beyond get a slot from their hash
  std::size_t slot_of(const QString& key);

 private:
  std::map<QString, std::size_t> slots_;
};

}  // namespace tributary::dashboard
