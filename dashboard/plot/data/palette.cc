#include "dashboard/plot/data/palette.h"

#include <QHash>
#include <algorithm>
#include <array>
#include <cmath>

#include "dashboard/plot/data/name_colours.h"

namespace tributary::dashboard {
namespace {

constexpr std::size_t kHues = 8;
constexpr std::size_t kShades = 3;

// Okabe and Ito's colours: blue, vermilion, green, orange, sky blue, purple, yellow and, instead of
// black, the text colour. Colours with too little contrast on the background are moved towards the
// text colour.
constexpr std::array<QRgb, kHues> kOnLight = {0xff0072b2, 0xffc24e00, 0xff00a87a, 0xffcc8400,
                                              0xff56b4e9, 0xffcc79a7, 0xffbfae00, 0xff404040};
constexpr std::array<QRgb, kHues> kOnDark = {0xff4ba3dd, 0xfff07a2a, 0xff1fc79a, 0xffe69f00,
                                             0xff8fd0f5, 0xffdd92bd, 0xfff0e442, 0xffd0d0d0};

double luminance(const QColor& colour) {
  const auto linear = [](double part) {
    return part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
         0.0722 * linear(colour.blueF());
}

}  // namespace

QColor mixed(const QColor& a, const QColor& b, double share_of_b) {
  const auto mix = [&](int x, int y) {
    return static_cast<int>(std::lround(x + (y - x) * share_of_b));
  };
  return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

PlotColours plot_colours(const QPalette& palette) {
  PlotColours colours;
  colours.ground = palette.color(QPalette::Base);
  colours.text = palette.color(QPalette::Text);
  colours.dark = luminance(colours.ground) < luminance(colours.text);
  colours.faint = mixed(colours.text, colours.ground, 0.4);
  colours.axis = mixed(colours.text, colours.ground, 0.5);
  colours.grid = mixed(colours.text, colours.ground, colours.dark ? 0.82 : 0.88);
  colours.cross = mixed(colours.text, colours.ground, 0.3);
  colours.warning = slot_colour(1, colours.dark);
  return colours;
}

QColor slot_colour(std::size_t slot, bool dark) {
  if (slot >= kNameSlotsBegin) return name_colour(slot, dark);
  if (slot >= kPaleSlotsBegin) {
    return mixed(slot_colour(slot - kPaleSlotsBegin, dark), dark ? Qt::black : Qt::white, 0.4);
  }
  const QColor hue = QColor::fromRgb((dark ? kOnDark : kOnLight)[slot % kHues]);
  switch (slot / kHues % kShades) {
    case 1:
      return mixed(hue, dark ? Qt::white : Qt::black, 0.4);
    case 2:
      return mixed(hue, dark ? Qt::black : Qt::white, 0.3);
    default:
      return hue;
  }
}

double contrast(const QColor& a, const QColor& b) {
  const double first = luminance(a) + 0.05;
  const double second = luminance(b) + 0.05;
  return std::max(first, second) / std::min(first, second);
}

std::size_t ColourSlots::slot_of(const QString& key) {
  if (const auto fixed = slot_of_part(key)) return *fixed;
  const auto found = slots_.find(key);
  if (found != slots_.end()) return found->second;
  if (slots_.size() == kKeysMax) return qHash(key) % (kHues * kShades);
  return slots_.emplace(key, slots_.size()).first->second;
}

}  // namespace tributary::dashboard
