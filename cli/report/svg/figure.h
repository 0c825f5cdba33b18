// A picture as data: panels above one another over one axis, each with lines or with bands.
//
// The SVG text needs no script, no font and nothing from the network. It follows the reader's light
// or dark setting, and its colours differ for people who do not see all of them.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/report/svg/points.h"
#include "core/run/units/quantity.h"

namespace tributary::report {

// Points of one line in a picture; what is more is thinned out.
constexpr std::size_t kLinePointsMax = 2000;

struct Series {
  // In the legend, with the last value; several of the same label share one entry.
  std::string label = {};
  Points points = {};  // x ascending
  // Places of the palette; behind the last of them they begin anew, dashed.
  std::size_t colour = 0;
  bool step = false;       // a value holds until the next
  bool faint = false;      // one of many, behind the others
  bool reference = false;  // what others are compared with: grey and dashed
};

struct LinePanel {
  std::string title = {};
  Unit unit = Unit::one;
  std::vector<Series> series = {};
  bool log = false;  // what is not above 0 is then a gap
  bool from_zero = false;
  // Areas on top of one another, of series that share their x; a reference stays a line.
  bool stacked = false;
  // The legend says a line's sum instead of its last value.
  bool sums = false;
  double height = 170;
};

struct Band {
  double from = 0;
  double to = 0;
  std::string label = {};
  std::string why = {};  // shown where the pointer rests
};

// What was in force when. Bands do not overlap; where there is none nothing is known.
struct Strip {
  std::string title = {};
  std::vector<Band> bands = {};  // ascending
};

struct StripPanel {
  std::vector<Strip> strips = {};
};

// A line through all panels, with its number above.
struct Mark {
  double x = 0;
  std::string number = {};
  std::string why = {};
};

struct Figure {
  std::string name = {};  // of its file, without the suffix
  std::string title = {};
  std::string description = {};  // for those who cannot see it
  std::string x_label = {};      // "round"
  Unit x_unit = Unit::count;
  // The ends of the axis, where they are not those of the values.
  std::optional<double> x_first = {};
  std::optional<double> x_last = {};
  std::vector<std::variant<LinePanel, StripPanel>> panels = {};
  std::vector<Mark> marks = {};
};

// Is there a finite value in it, or a band?
bool has_values(const Figure& figure);

// One <svg> element. Inside a page the styles are the page's: picture_styles().
std::string svg_of(const Figure& figure, bool with_styles);
std::string picture_styles();

}  // namespace tributary::report
