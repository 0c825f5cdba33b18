#include "cli/report/run_page.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "cli/report/svg/xml_text.h"

namespace tributary::report {
namespace {

// Bounds of the tables of the page.
constexpr std::size_t kSwitchRowsMax = 200;
constexpr std::size_t kAgentRowsMax = 200;
constexpr std::size_t kRoundsPerLine = 4;  // names that a tile lists

// The page loads no script, no font and no other file, so that it can be sent by mail and opened
// years later.
constexpr std::string_view kStyles = R"css(:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; margin: 0 auto; padding: 24px 16px 64px;
  max-width: 992px; color: #1c2127; background: #ffffff; }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 2px; }
h2 { font-size: 19px; margin: 44px 0 4px; }
h3 { font-size: 15px; margin: 20px 0 4px; }
p { margin: 4px 0 12px; max-width: 48em; }
.under { color: #59636e; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(215px, 1fr)); gap: 10px;
  margin: 20px 0; }
.tile { background: #f3f5f7; border-radius: 8px; padding: 10px 14px; }
.tile .name { color: #59636e; font-size: 13px; }
.tile .value { font-size: 22px; font-weight: 600; line-height: 1.3; overflow-wrap: anywhere; }
.tile .more { color: #59636e; font-size: 13px; overflow-wrap: anywhere; }
.tile.bad { outline: 2px solid #c75000; }
.lacks { color: #59636e; border-left: 3px solid #c3c9d1; padding-left: 10px; }
.picture { width: 100%; height: auto; margin: 8px 0 16px; display: block; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13.5px; margin: 8px 0 16px; }
th, td { text-align: left; padding: 4px 14px 4px 0; vertical-align: top;
  border-bottom: 1px solid #e4e8ec; }
th { color: #59636e; font-weight: 600; white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
@media (prefers-color-scheme: dark) {
body { color: #e6e9ec; background: #14181d; }
.under, .tile .name, .tile .more, .lacks, th { color: #9aa5b1; }
.tile { background: #1d232a; }
.tile.bad { outline-color: #ff9248; }
.lacks { border-color: #3a434c; }
th, td { border-color: #2a3138; }
}
@media print { h2, h3 { break-after: avoid; } .picture, table { break-inside: avoid; } }
)css";

// One key figure. A bad one is outlined, so that it is seen before anything else.
struct Tile {
  std::string name;
  std::string value;
  std::string more = {};
  bool bad = false;
};

// All texts pass through escaped(): names of jobs and agents come from other machines.
std::string html_of(const Tile& tile) {
  return fmt::format(
      "<div class=\"tile{}\"><div class=\"name\">{}</div><div class=\"value\">{}</div>"
      "<div class=\"more\">{}</div></div>\n",
      tile.bad ? " bad" : "", escaped(tile.name), escaped(tile.value), escaped(tile.more));
}

// The most frequent names first, for example "thc:bits=4 in 57, fp32 in 3".
std::string by_rounds(const std::map<std::string, std::uint64_t>& counts) {
  std::vector<std::pair<std::string, std::uint64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater<>(), [](const auto& each) { return each.second; });
  std::string text;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i == kRoundsPerLine) return text + fmt::format(", and {} more", sorted.size() - i);
    text += fmt::format("{}{} in {}", i > 0 ? ", " : "", sorted[i].first, sorted[i].second);
  }
  return text;
}

// The ratio is that of the dense size to the payload bytes; above 1 means savings.
void add_traffic(std::vector<Tile>& tiles, const std::string& name, std::uint64_t bytes,
                 std::optional<std::uint64_t> dense) {
  Tile tile{.name = name, .value = quantity_text(Unit::bytes, static_cast<double>(bytes))};
  if (dense) {
    tile.more = fmt::format("dense: {}", quantity_text(Unit::bytes, static_cast<double>(*dense)));
    if (const auto ratio = ratio_of(dense, bytes)) tile.more += fmt::format(", {:.3g}:1", *ratio);
  } else {
    tile.more = "dense: unknown, like the number of parameters";
  }
  tiles.push_back(std::move(tile));
}

// The training loss is shown only if there is no evaluation, because it says less.
void add_learning(std::vector<Tile>& tiles, const RunFigures& figures) {
  const std::string of_what =
      figures.evaluated_by_agents ? "mean of the agents' hold-outs" : "the coordinator's test set";
  if (figures.accuracy_final) {
    tiles.push_back(
        {.name = "Final accuracy",
         .value = quantity_text(Unit::share, *figures.accuracy_final),
         .more = fmt::format("best {}; {}", quantity_text(Unit::share, *figures.accuracy_best),
                             of_what)});
  }
  if (figures.loss_final) {
    tiles.push_back({.name = "Final loss",
                     .value = quantity_text(Unit::one, *figures.loss_final),
                     .more = of_what});
  } else if (figures.train_loss_final) {
    tiles.push_back({.name = "Last training loss",
                     .value = quantity_text(Unit::one, *figures.train_loss_final),
                     .more = "mean of the agents' reports"});
  }
}

// The figures that show whether the run can be trusted.
void add_health(std::vector<Tile>& tiles, const RunFigures& figures) {
  tiles.push_back({.name = "Replicas identical",
                   .value = figures.replicas_identical ? "yes" : "no",
                   .more = figures.replicas_identical
                               ? "the journal contains no divergence"
                               : fmt::format("{} divergences, each repaired from the "
                                             "coordinator's copy",
                                             figures.divergences),
                   .bad = !figures.replicas_identical});
  tiles.push_back({.name = "Aborted attempts",
                   .value = fmt::format("{}", figures.aborts),
                   .more = "rounds that were repeated"});
  tiles.push_back({.name = "Agents",
                   .value = fmt::format("{}", figures.agents),
                   .more = fmt::format("{} of {} contributions missed their commit",
                                       figures.contributions_missed, figures.contributions_asked)});
  if (figures.conservation_error_max) {
    tiles.push_back({.name = "Largest conservation error",
                     .value = quantity_text(Unit::one, *figures.conservation_error_max),
                     .more = "share of the rounding bound; must not exceed 1",
                     .bad = *figures.conservation_error_max > 1});
  }
}

// Unknown figures have no tile, so the number of tiles differs between runs.
std::string tiles_of(const RunFigures& figures) {
  std::vector<Tile> tiles;
  add_learning(tiles, figures);
  tiles.push_back({.name = "Rounds",
                   .value = figures.rounds_configured > 0
                                ? fmt::format("{} of {}", figures.rounds, figures.rounds_configured)
                                : fmt::format("{}", figures.rounds),
                   .more = fmt::format("in {}, including pauses",
                                       quantity_text(Unit::seconds, figures.wall_s))});
  add_traffic(tiles, "Payloads up", figures.bytes_up, figures.bytes_dense_up);
  add_traffic(tiles, "Payloads down", figures.bytes_down, figures.bytes_dense_down);
  if (figures.wire_bytes_up && figures.wire_bytes_down) {
    const auto text = [](std::uint64_t bytes) {
      return quantity_text(Unit::bytes, static_cast<double>(bytes));
    };
    tiles.push_back(
        {.name = "On the wire, total",
         .value = text(*figures.wire_bytes_up + *figures.wire_bytes_down),
         .more = fmt::format("up {}, down {}, in TCP streams", text(*figures.wire_bytes_up),
                             text(*figures.wire_bytes_down))});
  }
  if (!figures.codecs.empty()) {
    tiles.push_back({.name = figures.codecs.size() > 1 ? "Codec of most values" : "Codec",
                     .value = figures.main_codec,
                     .more = "rounds: " + by_rounds(figures.codecs)});
  }
  if (!figures.collectives.empty()) {
    tiles.push_back(
        {.name = figures.collectives.size() > 1 ? "Collective of most values" : "Collective",
         .value = figures.main_collective,
         .more = "rounds: " + by_rounds(figures.collectives)});
  }
  add_health(tiles, figures);
  std::string html = "<div class=\"tiles\">\n";
  for (const Tile& tile : tiles) html += html_of(tile);
  return html + "</div>\n";
}

// A table. A column whose name begins with '#' contains numbers and is aligned right.
class HtmlTable {
 public:
  explicit HtmlTable(const std::vector<std::string>& columns) {
    for (const std::string& column : columns) {
      numbers_.push_back(column.starts_with('#'));
      head_ += cell("th", column.substr(numbers_.back() ? 1 : 0), numbers_.back());
    }
  }
  void add(const std::vector<std::string>& row) {
    rows_ += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) rows_ += cell("td", row[i], numbers_[i]);
    rows_ += "</tr>\n";
  }
  std::string html() const {
    return fmt::format("<div class=\"wide\"><table>\n<tr>{}</tr>\n{}</table></div>\n", head_,
                       rows_);
  }

 private:
  static std::string cell(std::string_view tag, const std::string& text, bool number) {
    return fmt::format("<{0}{1}>{2}</{0}>", tag, number ? " class=\"number\"" : "", escaped(text));
  }

  std::vector<bool> numbers_;
  std::string head_;
  std::string rows_;
};

// The class "lacks" marks sentences about data that is missing.
std::string paragraph(const std::string& text, std::string_view css_class = {}) {
  return css_class.empty() ? fmt::format("<p>{}</p>\n", escaped(text))
                           : fmt::format("<p class=\"{}\">{}</p>\n", css_class, escaped(text));
}

// Tables are cut at a number of rows that a browser handles well; the CSV files are complete.
std::string switches_of(const RunFigures& figures) {
  if (figures.switches.empty()) {
    return paragraph("No switches: every plan is the same as the previous one.", "lacks");
  }
  HtmlTable table({"#no.", "#round", "#at", "from", "to", "why"});
  const std::size_t shown = std::min(figures.switches.size(), kSwitchRowsMax);
  for (std::size_t i = 0; i < shown; ++i) {
    const Switch& each = figures.switches[i];
    std::string why = each.trigger;
    if (!each.sentence.empty()) why += (why.empty() ? "" : ": ") + each.sentence;
    table.add({fmt::format("{}", i + 1), fmt::format("{}", each.round),
               quantity_text(Unit::seconds, each.at_s), each.from, each.to, why});
  }
  std::string html = table.html();
  if (shown < figures.switches.size()) {
    html += paragraph(fmt::format("The table shows the first {} of {} switches; all are in "
                                  "switches.csv.",
                                  shown, figures.switches.size()),
                      "lacks");
  }
  return html;
}

std::string agents_of(const RunData& data) {
  HtmlTable table({"agent", "device", "#rounds contributed", "#rounds as member",
                   "#mean compute time", "#last training loss"});
  const std::size_t shown = std::min(data.agents.size(), kAgentRowsMax);
  for (std::size_t i = 0; i < shown; ++i) {
    const AgentRow& agent = data.agents[i];
    table.add({agent.agent_id, agent.device_model, fmt::format("{}", agent.rounds_contributed),
               fmt::format("{}", agent.rounds_member),
               quantity_text(Unit::seconds, agent.compute_s),
               quantity_text(Unit::one, agent.train_loss)});
  }
  std::string html = table.html();
  if (shown < data.agents.size()) {
    html += paragraph(
        fmt::format("The table shows the first {} of {} agents.", shown, data.agents.size()),
        "lacks");
  }
  return html;
}

// The heading appears without any trouble too, so that a reader knows that there was none.
std::string troubles_of(const RunData& data) {
  std::string html = "<h2>Warnings and errors</h2>\n";
  if (data.troubles.empty()) {
    return html + paragraph("The journal contains none.", "lacks");
  }
  HtmlTable table({"level", "event", "reason", "#times", "#last round", "last message"});
  for (const TroubleRow& row : data.troubles) {
    table.add({row.level == LogLevel::error ? "error" : "warning", row.name, row.reason,
               fmt::format("{}", row.count),
               row.last_round > 0 ? fmt::format("{}", row.last_round) : "", row.last_text});
  }
  return html + table.html();
}

std::string html_of(const Section& section) {
  std::string html = fmt::format("<h2>{}</h2>\n", escaped(section.title)) + paragraph(section.text);
  for (const std::string& sentence : section.missing) html += paragraph(sentence, "lacks");
  for (const Figure& figure : section.figures) html += svg_of(figure, false);
  return html;
}

std::string html_of(const ShownPicture& picture) {
  const std::string title = escaped(picture.title);
  return fmt::format("<h3>{}</h3>\n<img class=\"picture\" alt=\"{}\" src=\"{}\"/>\n", title, title,
                     picture.source);
}

std::string dashboard_of(const std::vector<ShownPicture>& pictures) {
  if (pictures.empty()) return {};
  std::string html = "<h2>In the dashboard</h2>\n";
  html +=
      paragraph("Pages of tributary-dashboard. The program itself shows details interactively.");
  for (const ShownPicture& picture : pictures) html += html_of(picture);
  return html;
}

// The time of the start is in UTC, because the page is read in other time zones.
std::string header_of(const RunData& data) {
  const std::string name = data.job_name.empty() ? "a job without a name" : data.job_name;
  std::string under = fmt::format("job {}, {}", data.job, data.state);
  if (!data.state_reason.empty()) under += fmt::format(" ({})", data.state_reason);
  if (!data.model.empty()) under += fmt::format("; model {}", data.model);
  if (data.parameters > 0) under += fmt::format(", {} values", data.parameters);
  if (data.began_wall_ns != 0) {
    const auto seconds = static_cast<std::time_t>(data.began_wall_ns / 1'000'000'000);
    under += fmt::format("; began {:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(seconds));
  }
  return fmt::format("<h1>{}</h1>\n", escaped(name)) + paragraph(under, "under");
}

}  // namespace

std::string page_of(const RunData& data, const RunFigures& figures,
                    const std::vector<Section>& sections,
                    const std::vector<ShownPicture>& pictures) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>{} · Tributary</title>\n<style>\n{}{}</style>\n</head>\n<body>\n",
      escaped(data.job_name), kStyles, picture_styles());
  html += header_of(data);
  if (data.rounds.empty()) {
    html += paragraph("No round of this job has been committed yet.", "lacks");
  } else {
    html += tiles_of(figures);
  }
  for (const std::string& sentence : data.left_out) html += paragraph(sentence, "lacks");
  for (const Section& section : sections) {
    html += html_of(section);
    if (section.title == "Choices") html += switches_of(figures);
    if (section.title == "Agents") html += agents_of(data);
  }
  return html + troubles_of(data) + dashboard_of(pictures) + "</body>\n</html>\n";
}

}  // namespace tributary::report
