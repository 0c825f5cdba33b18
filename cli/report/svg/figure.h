// A picture as data: panels above one another that share an x axis. Each panel contains lines or
// bands.
//
// The SVG needs no script, no font and no network. It follows the reader's light or dark setting,
// and its colours can be distinguished with a colour vision deficiency.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/report/svg/points.h"
#include "core/run/units/quantity.h"

namespace tributary::report {

// Points of one line in the SVG; longer lines are decimated.
constexpr std::size_t kLinePointsMax = 2000;

// One line of a panel.
struct Series {
  // Shown in the legend with the last value. Several series with the same label share one entry.
  std::string label = {};
  Points points = {};  // x ascending
  // Index into the palette. Beyond its end the colours repeat, dashed.
  std::size_t colour = 0;
  bool step = false;       // a value holds until the next point
  bool faint = false;      // one of many, drawn behind the others
  bool reference = false;  // a line for comparison: grey and dashed
};

struct LinePanel {
  std::string title = {};
  Unit unit = Unit::one;
  std::vector<Series> series = {};
  bool log = false;  // values that are not positive become gaps
  bool from_zero = false;
  // Draws areas on top of one another. Their series must share their x values; a reference stays a
  // line.
  bool stacked = false;
  // The legend shows the sum of a line instead of its last value.
  bool sums = false;
  double height = 170;
};

struct Band {
  double from = 0;
  double to = 0;
  std::string label = {};
  std::string why = {};  // shown when the pointer rests on the band
};

// The choices in use over time. Bands do not overlap; between bands the state is unknown.
struct Strip {
  std::string title = {};
  std::vector<Band> bands = {};  // ascending
};

struct StripPanel {
  std::vector<Strip> strips = {};
};

// A numbered vertical line through all panels.
struct Mark {
  double x = 0;
  std::string number = {};
  std::string why = {};
};

struct Figure {
  std::string name = {};  // of the file, without the suffix
  std::string title = {};
  std::string description = {};  // for screen readers
  std::string x_label = {};      // "round"
  Unit x_unit = Unit::count;
  // Ends of the axis, if they differ from those of the values.
  std::optional<double> x_first = {};
  std::optional<double> x_last = {};
  std::vector<std::variant<LinePanel, StripPanel>> panels = {};
  std::vector<Mark> marks = {};
};

// Whether the figure contains a finite value or a band.
bool has_values(const Figure& figure);

// Returns one <svg> element. A figure inside a page uses the page's styles: picture_styles().
std::string svg_of(const Figure& figure, bool with_styles);
// The CSS of all classes, for a page or a single file.
std::string picture_styles();

}  // namespace tributary::report
