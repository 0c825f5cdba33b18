// The CSS of all figures. The colours follow Okabe and Ito, darkened on white and lightened on
// black until both have enough contrast. When the colours repeat, lines are dashed.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "cli/report/svg/figure.h"

namespace tributary::report {
namespace {

// The name is the CSS class of a curve; colour_class() gives the class of a number.
struct Colour {
  std::string_view name;
  std::string_view light;  // on a light background
  std::string_view dark;
};

constexpr auto kColours = std::to_array<Colour>({{"s0", "#0068a8", "#5cb6f2"},
                                                 {"s1", "#c75000", "#ff9248"},
                                                 {"s2", "#00805c", "#2fc59a"},
                                                 {"s3", "#a8478a", "#e79ac9"},
                                                 {"s4", "#8a6d00", "#e3c23f"},
                                                 {"s5", "#4b4f58", "#c3c9d1"},
                                                 {"ref", "#7a848e", "#8e99a4"}});

constexpr std::string_view kLight =
    R"css(.picture { font: 12px system-ui, "DejaVu Sans", sans-serif; }
.picture text { fill: #1c2127; }
.picture .title { font-size: 15px; font-weight: 600; }
.picture .label { font-weight: 600; }
.picture .tick, .picture .small { fill: #59636e; font-size: 11px; }
.picture .legend { fill: #333b44; stroke: #ffffff; stroke-width: 3px; paint-order: stroke; }
.picture .inband { fill: #ffffff; font-size: 11px; font-weight: 600; }
.paper { fill: #ffffff; }
.grid { stroke: #e4e8ec; stroke-width: 1; }
.axis { stroke: #8b949e; stroke-width: 1; }
.mark { stroke: #59636e; stroke-width: 1; stroke-dasharray: 2 3; }
.empty { fill: #f3f5f7; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.faint { stroke-width: 1; stroke-opacity: 0.35; }
.again { stroke-dasharray: 6 3; }
.ref.line { stroke-dasharray: 5 4; stroke-width: 1.4; }
.area { stroke: none; fill-opacity: 0.75; }
.band { stroke: none; fill-opacity: 0.85; }
)css";

constexpr std::string_view kDark = R"css(.picture text { fill: #e6e9ec; }
.picture .tick, .picture .small { fill: #9aa5b1; }
.picture .legend { fill: #c8d0d8; stroke: #14181d; }
.picture .inband { fill: #0d1117; }
.paper { fill: #14181d; }
.grid { stroke: #2a3138; }
.axis { stroke: #6b7681; }
.mark { stroke: #9aa5b1; }
.empty { fill: #1d232a; }
)css";

// One rule each for lines (stroke) and for areas, bands and dots (fill).
std::string of_colour(std::string_view name, std::string_view colour) {
  return fmt::format(
      ".{0}.line {{ stroke: {1}; }} .{0}.area, .{0}.band, .{0}.dot {{ fill: {1}; }}\n", name,
      colour);
}

}  // namespace

std::string picture_styles() {
  std::string light(kLight);
  std::string dark(kDark);
  for (const Colour& colour : kColours) {
    light += of_colour(colour.name, colour.light);
    dark += of_colour(colour.name, colour.dark);
  }
  // Dots are filled and must not have the outline of their line.
  light += ".dot.line { stroke: none; }\n";
  return light + "@media (prefers-color-scheme: dark) {\n" + dark +
         ".dot.line { stroke: none; }\n}\n";
}

}  // namespace tributary::report
