#include "dashboard/pages/decisions/decision_pictures.h"

#include <QTabWidget>
#include <algorithm>

#include "dashboard/pages/plan/decision_view.h"

namespace tributary::dashboard {
namespace {

constexpr int kPictureHeightMin = 90;
constexpr std::size_t kShareRowsMax = 10;  // more rows leave no room for their names
const char* const kWidestLabel = "00.0 Mbit/s Rate";
const char* const kNoLinkMeasured =
    "No link between the coordinator and an agent has been measured yet. Rounds measure the "
    "links.";

const char* const kNoBelief =
    "No decision with a belief has been read. A planner stores one with each decision.";

// Links differ by powers of ten, so the axis is logarithmic if there is anything to show.
void show_links(PlotView& view, std::vector<PlotCurve> curves) {
  view.axes().set_log_y(!curves.empty());
  view.set_curves(std::move(curves));
}

}  // namespace

DecisionPictures::DecisionPictures(PlotGroup& group, QObject* parent)
    : QObject(parent),
      over_rounds_(new QSplitter(Qt::Vertical)),
      how_often_(new QSplitter(Qt::Horizontal)) {
  rate_ = new PlotView({.title = "Slowest links: rate (1/β)", .y = {"Rate", Unit::bits_per_second}},
                       &group);
  alpha_ = new PlotView({.title = "Slowest links: latency (α)", .y = {"Latency", Unit::seconds}},
                        &group);
  belief_ = new PlotView(
      {.title = "Believed links: 90 % bands", .y = {"Rate", Unit::bits_per_second}}, &group);
  seconds_ = new PlotView(
      {.title = "Round time", .y = {"Round", Unit::seconds}, .y_from_zero = true}, &group);
  // The two frequency charts have x axes of their own and therefore groups of their own.
  for (PlotGroup* own : {&ratio_group_, &name_group_}) {
    own->share_colours(borrowed(group.colours()));
    own->x_axis().set_following(false);
  }
  ratio_group_.x_axis().set_log(true);
  ratios_ = new PlotView(
      {.title = "Ratios: share of rounds", .x = {"Ratio", Unit::one}, .y = {"Rounds", Unit::share}},
      &ratio_group_);
  names_ = new PlotView(
      {.title = "Codecs and collectives", .x = {"Rounds", Unit::share}, .spans_in_legend = false},
      &name_group_);
  // Four charts one above the other would be too low, so two share a place.
  auto* const tabs = new QTabWidget;
  tabs->addTab(belief_, "Believed rates");
  tabs->addTab(alpha_, "Measured latency");
  over_rounds_->addWidget(rate_);
  over_rounds_->addWidget(tabs);
  over_rounds_->addWidget(seconds_);
  for (PlotView* view : {rate_, belief_, alpha_, seconds_}) {
    view->setMinimumHeight(kPictureHeightMin);
    connect(view, &PlotView::x_clicked, this, &DecisionPictures::clicked);
  }
  over_rounds_->setSizes({2300, 2200, 1600});
  for (PlotView* view : {names_, ratios_}) {
    view->setMinimumHeight(kPictureHeightMin);
    how_often_->addWidget(view);
  }
}

// The charts refer to the groups and are destroyed before them. QPointer covers the case that the
// page has already destroyed them.
DecisionPictures::~DecisionPictures() {
  delete over_rounds_;
  delete how_often_;
}

void DecisionPictures::clear(const QString& why) {
  links_.measured.clear();
  links_.believed.clear();
  bands_.clear();
  mark_.reset();
  table_ = nullptr;
  for (PlotView* view : {rate_, belief_, alpha_, seconds_, ratios_, names_}) {
    view->set_empty_text(why);
    view->set_bands({});
    view->set_curves({});
    view->set_bars({});
    view->set_gantt({});
  }
}

void DecisionPictures::show(const RunView& view, std::uint64_t job,
                            const std::vector<Choice>& choices, const AxisText& x_axis) {
  const RoundTable& table = *view.rounds(job);
  const bool over_time = x_axis.unit != Unit::count;
  const bool other_curves = &table != table_ || over_time != over_time_;
  if (&table != table_) links_.measured.clear();
  const bool other_links = links_.measured.update(view, job);
  const bool other_beliefs = links_.believed.update(table, over_time);
  table_ = &table;
  over_time_ = over_time;
  // Curves are set only if they changed; new samples of the same series appear without it.
  if (other_curves || other_links || other_beliefs) show_curves(table, x_axis);
  bands_ = choice_bands(table, choices, over_time);
  show_bands();
  show_shares(table, choices);
}

void DecisionPictures::show_curves(const RoundTable& table, const AxisText& x_axis) {
  show_links(*rate_, links_.measured.rate(over_time_));
  show_links(*alpha_, links_.measured.alpha(over_time_));
  show_links(*belief_, links_.believed.rates());
  const auto of = [&](const TwoCurves& both) {
    return over_time_ ? both.over_time : both.over_rounds;
  };
  seconds_->set_curves({{.key = "measured", .name = "measured", .series = of(table.curves.seconds)},
                        {.key = "predicted",
                         .name = "predicted",
                         .series = of(table.curves.predicted),
                         .low = links_.believed.expected_low(),
                         .high = links_.believed.expected_high()}});
  for (PlotView* view : {rate_, alpha_}) view->set_empty_text(kNoLinkMeasured);
  belief_->set_empty_text(kNoBelief);
  seconds_->set_empty_text("No round has been committed yet.");
  for (PlotView* view : {rate_, belief_, alpha_, seconds_}) view->set_x_axis(x_axis);
}

void DecisionPictures::show_bands() {
  // All charts must begin at the same pixel, whatever the width of their numbers. An empty band
  // with the widest label reserves the space.
  const Band beside = {.name = kWidestLabel, .behind = true};
  std::vector<Band> above = bands_;
  above.push_back(beside);
  rate_->set_bands(std::move(above));
  alpha_->set_bands({beside});
  belief_->set_bands({beside});
  std::vector<Band> behind = {beside};
  if (mark_) behind.push_back(*mark_);
  seconds_->set_bands(std::move(behind));
}

void DecisionPictures::mark(const RoundTable& table, std::optional<std::size_t> row) {
  mark_.reset();
  if (row) {
    Stretch stretch = stretch_of_rows(table, *row, *row, over_time_);
    stretch.colour_key = "chosen round";
    mark_ = Band{.stretches = {stretch}, .behind = true};
  }
  show_bands();
}

void DecisionPictures::show_shares(const RoundTable& table, const std::vector<Choice>& choices) {
  const char* const none = "No plan of this run has been read yet.";
  std::vector<ChoiceShare> shares = shares_of_names(choices, &Choice::codec, table.names.codecs);
  const std::vector<ChoiceShare> collectives =
      shares_of_names(choices, &Choice::collective, table.names.collectives);
  shares.resize(std::min(shares.size(), kShareRowsMax / 2));
  shares.insert(shares.end(), collectives.begin(),
                collectives.begin() +
                    static_cast<std::ptrdiff_t>(std::min(collectives.size(), kShareRowsMax / 2)));
  names_->set_empty_text(none);
  names_->set_gantt(share_rows(shares));
  ratios_->set_empty_text(none);
  std::vector<Bar> bars = shares_of_ratios(choices);
  std::vector<Bars> all;
  if (!bars.empty()) all.push_back({.key = "rounds", .name = "rounds", .bars = std::move(bars)});
  ratios_->set_bars(std::move(all));
}

}  // namespace tributary::dashboard
