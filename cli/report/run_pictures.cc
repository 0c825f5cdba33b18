#include "cli/report/run_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "core/run/run_changes.h"
#include "core/run/units/quantity.h"

namespace tributary::report {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kAgentLinesMax = 6;  // more agents are drawn as a band of three lines
// Points of a band and of a stack: about one per two pixels of the plot's width.
constexpr std::size_t kBinsMax = 400;
constexpr std::size_t kStackMax = 480;

// The kind of x axis.
enum class Over { rounds, time };

using ByAgent = std::map<std::string, Points>;

// --- lines from rows

// One point per committed round; over time it stands at the commit.
Points line_of(const RunData& data, const std::function<double(const RoundRow&)>& value,
               Over over = Over::rounds) {
  Points points;
  for (const RoundRow& row : data.rounds) {
    points.push_back(
        {over == Over::rounds ? static_cast<double>(row.round) : row.ended_s, value(row)});
  }
  return points;
}

double plain(std::uint64_t number) { return static_cast<double>(number); }

// Lines by agent; the key of the coordinator's own readings is empty.
ByAgent metric_lines(const RunData& data, std::string_view name, Over over) {
  ByAgent lines;
  for (const auto& [agent, rows] : data.metric(name)) {
    for (const MetricRow& row : rows) {
      lines[agent].push_back({over == Over::rounds ? plain(row.round) : row.time_s, row.value});
    }
    std::ranges::stable_sort(lines[agent], {}, &Point::x);
  }
  return lines;
}

// Draws one line per agent while the lines can be distinguished; otherwise lowest, median and
// highest.
void add_agents(std::vector<Series>& series, const ByAgent& by_agent, bool faint,
                const std::string& label, std::size_t colour = 2) {
  std::vector<Points> lines;
  for (const auto& [agent, points] : by_agent) {
    if (!agent.empty()) lines.push_back(points);
  }
  if (lines.size() > kAgentLinesMax) {
    const Envelope range = envelope(lines, kBinsMax);
    series.push_back(
        {.label = "highest of " + label, .points = range.highest, .colour = colour, .faint = true});
    series.push_back({.label = "median of " + label, .points = range.median, .colour = colour});
    series.push_back(
        {.label = "lowest of " + label, .points = range.lowest, .colour = colour, .faint = true});
    return;
  }
  for (const auto& [agent, points] : by_agent) {
    if (agent.empty()) continue;
    series.push_back({.label = faint ? label : agent,
                      .points = points,
                      .colour = faint ? colour : series.size(),
                      .faint = faint});
  }
}

// Neighbouring rounds of the same plan become one band. Its reason is that of its first round.
std::vector<Band> bands_of(const RunData& data, Over over,
                           const std::function<std::string(const RoundRow&)>& label) {
  std::vector<Band> bands;
  for (std::size_t i = 0; i < data.rounds.size(); ++i) {
    const RoundRow& row = data.rounds[i];
    const std::string text = label(row);
    const double from = over == Over::rounds ? plain(row.round) - 0.5 : row.began_s;
    const double to = over == Over::rounds ? plain(row.round) + 0.5 : row.ended_s;
    // Over time a pause of a minute or more separates bands.
    const bool joins = !bands.empty() && bands.back().label == text && i > 0 &&
                       data.rounds[i - 1].round + 1 == row.round &&
                       (over == Over::rounds || from - bands.back().to < 60);
    if (joins) {
      bands.back().to = to;
    } else if (!text.empty()) {
      std::string why = row.trigger;
      if (!row.sentence.empty()) why += (why.empty() ? "" : ": ") + row.sentence;
      bands.push_back({.from = from, .to = to, .label = text, .why = std::move(why)});
    }
  }
  return bands;
}

StripPanel plan_strips(const RunData& data, Over over) {
  return {{{.title = "codec", .bands = bands_of(data, over, &RoundRow::codecs)},
           {.title = "collective", .bands = bands_of(data, over, &RoundRow::collectives)}}};
}

// The numbers are those of the table of switches on the page.
std::vector<Mark> marks_of(const RunFigures& figures, Over over) {
  std::vector<Mark> marks;
  for (std::size_t i = 0; i < figures.switches.size(); ++i) {
    const Switch& each = figures.switches[i];
    marks.push_back({.x = over == Over::rounds ? plain(each.round) - 0.5 : each.at_s,
                     .number = fmt::format("{}", i + 1),
                     .why = fmt::format("{}: {} → {}. {} {}", i + 1, each.from, each.to,
                                        each.trigger, each.sentence)});
  }
  return marks;
}

// All figures of a kind have the same range, so that they can be compared one above the other.
void set_x_axis(Figure& figure, const RunData& data, Over over) {
  figure.x_label = over == Over::rounds ? "round" : "time since the first round began";
  figure.x_unit = over == Over::rounds ? Unit::count : Unit::seconds;
  if (data.rounds.empty()) return;
  const bool strips = std::ranges::any_of(
      figure.panels, [](const auto& panel) { return std::holds_alternative<StripPanel>(panel); });
  // Bands extend half a round beyond the first and the last round.
  const double margin = strips ? 0.5 : 0;
  figure.x_first = over == Over::rounds ? plain(data.rounds.front().round) - margin : 0;
  figure.x_last =
      over == Over::rounds ? plain(data.rounds.back().round) + margin : data.rounds.back().ended_s;
}

// --- the sections

// If the coordinator evaluates, the agents' own hold-outs are drawn faintly behind its test set.
Figure learning(const RunData& data, Over over) {
  LinePanel accuracy{.title = "accuracy", .unit = Unit::share};
  LinePanel loss{.title = "loss"};
  for (const auto& [panel, name] :
       {std::pair(&accuracy, kAccuracyMetric), std::pair(&loss, kLossMetric)}) {
    const ByAgent lines = metric_lines(data, name, over);
    add_agents(panel->series, lines, lines.contains(""), "the agents' hold-outs");
    if (const auto own = lines.find(""); own != lines.end()) {
      panel->series.push_back({.label = "test set", .points = own->second, .colour = 0});
    }
  }
  const auto mean_loss = [](const RoundRow& row) { return row.train_loss; };
  Points training = line_of(data, mean_loss, over);
  if (std::ranges::any_of(training, [](const Point& p) { return std::isfinite(p.y); })) {
    add_agents(loss.series, metric_lines(data, "agent_loss", over), true, "training of each agent",
               1);
    loss.series.push_back(
        {.label = "training, mean of the agents", .points = std::move(training), .colour = 1});
  }
  Figure figure;
  figure.name = over == Over::rounds ? "learning_by_round" : "learning_by_time";
  figure.title = over == Over::rounds ? "Accuracy and loss by round" : "Accuracy and loss by time";
  figure.description = "Accuracy and loss on the test set, on hold-out sets, and in training.";
  if (std::ranges::any_of(accuracy.series, [](const Series& s) { return !s.points.empty(); })) {
    figure.panels.emplace_back(std::move(accuracy));
  }
  figure.panels.emplace_back(std::move(loss));
  set_x_axis(figure, data, over);
  // The model is evaluated before the first round and after the last one.
  // The first and the last evaluation may be outside the range of the rounds.
  figure.x_first.reset();
  figure.x_last.reset();
  return figure;
}

Section learning_section(const RunData& data) {
  Section section{.title = "Learning",
                  .text =
                      "Accuracy is the share of correctly classified examples. The training "
                      "loss is reported by the agents for their own data, before a round's "
                      "update is applied."};
  for (const Over over : {Over::rounds, Over::time}) {
    if (Figure figure = learning(data, over); has_values(figure)) {
      section.figures.push_back(std::move(figure));
    }
  }
  if (data.metric(kAccuracyMetric).empty() && data.metric(kLossMetric).empty()) {
    section.missing.emplace_back(
        "The journal contains no evaluation, neither on the coordinator's test "
        "set nor on any agent's hold-out set.");
  }
  const auto reported = [](const RoundRow& row) { return std::isfinite(row.train_loss); };
  if (!std::ranges::any_of(data.rounds, reported)) {
    section.missing.emplace_back("No agent has reported a training loss.");
  }
  return section;
}

// `bytes` and `dense` select the direction.
LinePanel traffic_panel(const RunData& data, std::string title, std::uint64_t RoundRow::*bytes,
                        double RoundRow::*dense) {
  LinePanel panel{.title = std::move(title), .unit = Unit::bytes, .sums = true};
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  const auto value = [&](const RoundRow& row) {
    if (row.*bytes > 0) low = std::min(low, plain(row.*bytes));
    high = std::max({high, plain(row.*bytes), std::isfinite(row.*dense) ? row.*dense : 0});
    return plain(row.*bytes);
  };
  panel.series.push_back({.label = "payloads", .points = line_of(data, value), .colour = 0});
  panel.series.push_back(
      {.label = "dense float32", .points = line_of(data, dense), .reference = true});
  // Beyond this ratio the smaller curve would be flat on a linear axis.
  constexpr double kLogScaleRatio = 8;
  panel.log = high > kLogScaleRatio * low;
  panel.from_zero = !panel.log;
  if (panel.log) panel.title += ", logarithmic";
  return panel;
}

Section traffic_section(const RunData& data) {
  Section section{
      .title = "Traffic",
      .text =
          "Payload bytes of each round as counted by the coordinator at the commit: "
          "all bytes received from the agents (up) and sent to them (down). Dense is the "
          "size of the same round without compression: 4 bytes for each parameter, times the "
          "contributors on the uplink, times the members of the epoch on the downlink. Frames, "
          "retries and control messages are not included."};
  Figure figure{.name = "bytes_per_round",
                .title = "Bytes per round",
                .description = "Payload bytes up and down, beside their size as float32."};
  figure.panels.emplace_back(
      traffic_panel(data, "up", &RoundRow::bytes_up, &RoundRow::dense_bytes_up));
  figure.panels.emplace_back(
      traffic_panel(data, "down", &RoundRow::bytes_down, &RoundRow::dense_bytes_down));
  set_x_axis(figure, data, Over::rounds);
  if (data.parameters == 0) {
    section.missing.emplace_back("The number of parameters is unknown, so there is no dense size.");
  }
  section.figures.push_back(std::move(figure));
  return section;
}

// A phase of a round, as agents report it.
struct Part {
  std::string label;
  double RoundRow::*seconds;
};

Section time_section(const RunData& data) {
  Section section{.title = "Time",
                  .text =
                      "Duration of each round, from the plan to the commit, and its phases: "
                      "means over the agents that reported. The rest of the duration is "
                      "not measured by the agents: mostly the transfer of the payloads and the "
                      "coordinator's own work."};
  LinePanel panel{
      .title = "seconds per round", .unit = Unit::seconds, .stacked = true, .height = 210};
  std::string unmeasured;
  for (const Part& part :
       {Part{"computing", &RoundRow::compute_s}, Part{"encoding", &RoundRow::encode_s},
        Part{"waiting", &RoundRow::wait_s}}) {
    Points points = line_of(data, [&](const RoundRow& row) { return row.*(part.seconds); });
    const std::size_t colour = panel.series.size();
    if (std::ranges::none_of(points, [](const Point& p) { return p.y > 0; })) {
      unmeasured += (unmeasured.empty() ? "" : " and ") + part.label;
      continue;
    }
    panel.series.push_back(
        {.label = part.label, .points = averaged(points, kStackMax), .colour = colour});
  }
  if (!unmeasured.empty()) {
    section.missing.push_back(
        fmt::format("The agents have not measured the time for {}.", unmeasured));
  }
  // The duration is a line for comparison over the stacked phases.
  panel.series.push_back({.label = "the whole round",
                          .points = line_of(data, [](const RoundRow& r) { return r.seconds(); }),
                          .reference = true});
  Figure figure{.name = "seconds_per_round",
                .title = "Seconds per round",
                .description = "Duration of each round and of its phases."};
  figure.panels.emplace_back(std::move(panel));
  set_x_axis(figure, data, Over::rounds);
  section.figures.push_back(std::move(figure));
  return section;
}

Section plan_section(const RunData& data, const RunFigures& figures) {
  Section section{.title = "Choices",
                  .text =
                      "Codec and collective of each round according to its plan. If a round "
                      "uses several, the one with most values is first. Achieved compression is "
                      "dense bytes divided by payload bytes. Numbered lines are the switches in "
                      "the table below."};
  if (std::ranges::none_of(data.rounds, &RoundRow::planned)) {
    section.missing.emplace_back("The journal contains no readable plan.");
    return section;
  }
  Figure figure{.name = "plan_by_round",
                .title = "Codec, collective and ratio by round",
                .description = "The plans, and the compression achieved."};
  figure.panels.emplace_back(plan_strips(data, Over::rounds));
  LinePanel achieved{.title = "compression achieved, dense : payload", .height = 120};
  for (const auto& [label, bytes, dense] :
       {std::tuple("up", &RoundRow::bytes_up, &RoundRow::dense_bytes_up),
        std::tuple("down", &RoundRow::bytes_down, &RoundRow::dense_bytes_down)}) {
    const auto ratio = [&, b = bytes, d = dense](const RoundRow& row) {
      return row.*b > 0 ? row.*d / plain(row.*b) : kNoValue;
    };
    achieved.series.push_back(
        {.label = label, .points = line_of(data, ratio), .colour = achieved.series.size()});
  }
  achieved.from_zero = true;
  figure.panels.emplace_back(std::move(achieved));
  if (std::ranges::any_of(data.rounds, [](const RoundRow& r) { return r.ratio() < 1; })) {
    LinePanel kept{.title = "share of values kept, as planned", .unit = Unit::share, .height = 100};
    kept.series.push_back(
        {.label = "kept", .points = line_of(data, &RoundRow::ratio), .colour = 2, .step = true});
    kept.from_zero = true;
    figure.panels.emplace_back(std::move(kept));
  } else {
    section.missing.emplace_back("Every plan kept all values, so no ratio is shown.");
  }
  figure.marks = marks_of(figures, Over::rounds);
  set_x_axis(figure, data, Over::rounds);
  section.figures.push_back(std::move(figure));
  return section;
}

// Latency in s and bandwidth in bit/s, over time.
struct LinkLines {
  ByAgent latency;
  ByAgent bandwidth;
};

// An isolated sample says nothing about the time after it, so long intervals become gaps.
ByAgent without_bridges(const ByAgent& lines) {
  ByAgent out;
  for (const auto& [agent, points] : lines) {
    Points sorted = points;
    std::ranges::stable_sort(sorted, {}, &Point::x);
    // Measurements come at irregular intervals, so a gap is judged by the usual distance of this
    // line.
    constexpr double kMissedSamples = 5;
    out[agent] = with_gaps(sorted, std::max(1.0, kMissedSamples * usual_distance(sorted)));
  }
  return out;
}

// If both directions were measured, an agent has two lines and their names have arrows. Otherwise
// the identifier is enough.
struct BothDirections {
  bool up = false;
  bool down = false;
  void take(bool to_agent) { (to_agent ? down : up) = true; }
  std::string name_of(const LinkRow& row) const {
    return up && down ? row.agent_id + (row.to_agent ? " ↓" : " ↑") : row.agent_id;
  }
};

LinkLines link_lines(const RunData& data) {
  BothDirections latency;
  BothDirections bandwidth;
  for (const LinkRow& row : data.links) {
    if (std::isfinite(row.alpha_s)) latency.take(row.to_agent);
    if (row.beta_s_per_byte > 0) bandwidth.take(row.to_agent);
  }
  LinkLines lines;
  for (const LinkRow& row : data.links) {
    if (std::isfinite(row.alpha_s)) {
      lines.latency[latency.name_of(row)].push_back({row.time_s, row.alpha_s});
    }
    if (const double rate = bits_per_second(row.beta_s_per_byte); rate > 0) {
      lines.bandwidth[bandwidth.name_of(row)].push_back({row.time_s, rate});
    }
  }
  return {.latency = without_bridges(lines.latency), .bandwidth = without_bridges(lines.bandwidth)};
}

Section link_section(const RunData& data, const RunFigures& figures) {
  Section section{.title = "Links",
                  .text =
                      "Measured links between the coordinator and each agent: the one-way "
                      "latency α and the bandwidth 1/β. Below them, the codec and the collective "
                      "in use."};
  const LinkLines lines = link_lines(data);
  Figure figure{.name = "links_by_time",
                .title = "Links and choices over time",
                .description = "Latency and bandwidth of each agent's link, codec and collective."};
  if (!lines.bandwidth.empty()) {
    LinePanel panel{.title = "bandwidth", .unit = Unit::bits_per_second};
    add_agents(panel.series, lines.bandwidth, false, "the agents");
    panel.from_zero = true;
    figure.panels.emplace_back(std::move(panel));
  } else {
    section.missing.emplace_back("The journal contains no measured bandwidth (β).");
  }
  if (!lines.latency.empty()) {
    LinePanel panel{.title = "latency", .unit = Unit::seconds};
    add_agents(panel.series, lines.latency, false, "the agents");
    panel.from_zero = true;
    figure.panels.emplace_back(std::move(panel));
  } else {
    section.missing.emplace_back("The journal contains no measured latency (α).");
  }
  if (figure.panels.empty()) return section;
  figure.panels.emplace_back(plan_strips(data, Over::time));
  figure.marks = marks_of(figures, Over::time);
  set_x_axis(figure, data, Over::time);
  section.figures.push_back(std::move(figure));
  return section;
}

Section people_section(const RunData& data) {
  Section section{.title = "Agents",
                  .text =
                      "Contributors are the agents with at least one bucket in the commit. A "
                      "straggler was asked and did not contribute; its update stays in its "
                      "residual and is sent in a later round."};
  LinePanel panel{.title = "agents", .unit = Unit::count, .height = 130};
  const auto asked = [](const RoundRow& row) { return plain(row.asked); };
  panel.series.push_back(
      {.label = "asked", .points = line_of(data, asked), .step = true, .reference = true});
  const auto contributors = [](const RoundRow& row) { return plain(row.contributors); };
  panel.series.push_back(
      {.label = "contributors", .points = line_of(data, contributors), .colour = 0, .step = true});
  const auto stragglers = [](const RoundRow& row) {
    return plain(row.asked - std::min(row.asked, row.contributors));
  };
  panel.series.push_back(
      {.label = "stragglers", .points = line_of(data, stragglers), .colour = 1, .step = true});
  panel.from_zero = true;
  Figure figure{.name = "contributors_per_round",
                .title = "Contributors and stragglers",
                .description = "Number of agents asked, and number of agents in each commit."};
  figure.panels.emplace_back(std::move(panel));
  set_x_axis(figure, data, Over::rounds);
  section.figures.push_back(std::move(figure));
  return section;
}

}  // namespace

std::vector<Section> sections_of(const RunData& data, const RunFigures& figures) {
  if (data.rounds.empty()) return {};
  std::vector<Section> sections;
  sections.push_back(learning_section(data));
  sections.push_back(traffic_section(data));
  sections.push_back(plan_section(data, figures));
  sections.push_back(link_section(data, figures));
  sections.push_back(time_section(data));
  sections.push_back(people_section(data));
  return sections;
}

}  // namespace tributary::report
