#include "dashboard/pages/aggregator/topology_view.h"

#include <QPainter>
#include <algorithm>
#include <cmath>
#include <utility>

#include "dashboard/plot/data/name_colours.h"
#include "dashboard/plot/data/palette.h"

namespace tributary::dashboard {
namespace {

// Centres of the columns, as shares of the width.
constexpr double kAgentsX = 0.14;
constexpr double kAggregatorX = 0.5;
constexpr double kCoordinatorX = 0.86;
constexpr double kBoxWidthShare = 0.24;
constexpr double kPathY = 0.42;            // height of the path, as a share
constexpr double kNotUsedY = 0.78;         // of the first aggregator that is not in use
constexpr double kNotUsedStep = 0.17;      //
constexpr int kBoxWidthMax = 220;          // pixels
constexpr double kBoxLines = 2.3;          // height of a box, in lines of text
constexpr double kUpdatesPenWidth = 2.5;   // pixels
constexpr double kSessionsPenWidth = 1.0;  //
constexpr double kBoxCorner = 4;           //
constexpr const char* kTopologyLegend = "Thick: updates in this round. Dashed: sessions.";

QColor path_colour(TopologyPath path, bool dark) {
  const char* const name = path == TopologyPath::in_network ? "in_network" : "star";
  return slot_colour(slot_of_name(name), dark);
}

// The ends of a line between two boxes, from side to side.
QLine link_between(const QRect& left, const QRect& right) {
  return {QPoint(left.right(), left.center().y()), QPoint(right.left(), right.center().y())};
}

}  // namespace

TopologyView::TopologyView(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  clear();
}

void TopologyView::show_topology(Topology topology) {
  topology_ = std::move(topology);
  QString spoken = topology_.title.isEmpty() ? "Topology" : topology_.title;
  spoken += QString("; %1 agents").arg(topology_.agents.size());
  if (topology_.used) spoken += "; aggregator in use: " + topology_.used->id;
  for (const TopologyAggregator& one : topology_.not_used) {
    spoken += "; aggregator not in use: " + one.id;
  }
  setAccessibleName(spoken);
  setToolTip(kTopologyLegend);
  update();
}

QSize TopologyView::sizeHint() const { return {700, fontMetrics().lineSpacing() * 16}; }
QSize TopologyView::minimumSizeHint() const { return {360, fontMetrics().lineSpacing() * 10}; }

// The first line has the title and the last one the legend.
QRect TopologyView::area() const {
  const int line = fontMetrics().lineSpacing();
  return rect().adjusted(0, line + 2, 0, -line - 2);
}

QRect TopologyView::box(double x_share, double y_share) const {
  const QRect all = area();
  const int wide = std::min(kBoxWidthMax, static_cast<int>(all.width() * kBoxWidthShare));
  const int high = static_cast<int>(fontMetrics().lineSpacing() * kBoxLines);
  QRect out(0, 0, wide, high);
  out.moveCenter({all.left() + static_cast<int>(all.width() * x_share),
                  all.top() + static_cast<int>(all.height() * y_share)});
  return out;
}

// Agents share the height; with many, boxes become lower than two lines.
QRect TopologyView::rect_of_agent(std::size_t index) const {
  const std::size_t shown = std::min(topology_.agents.size(), kAgentsMax);
  if (index >= shown) return {};
  const std::size_t lines = shown + (topology_.agents.size() > shown ? 1 : 0);
  QRect out = box(kAgentsX, (static_cast<double>(index) + 0.5) / static_cast<double>(lines));
  const int fits = static_cast<int>(area().height() / static_cast<double>(lines)) - 4;
  const QPoint centre = out.center();
  out.setHeight(std::clamp(fits, 4, static_cast<int>(fontMetrics().lineSpacing() * 1.5)));
  out.moveCenter(centre);
  return out;
}

QRect TopologyView::rect_of_used() const {
  return topology_.used ? box(kAggregatorX, kPathY) : QRect();
}

QRect TopologyView::rect_of_not_used(std::size_t index) const {
  if (index >= std::min(topology_.not_used.size(), kNotUsedMax)) return {};
  return box(kAggregatorX, kNotUsedY + kNotUsedStep * static_cast<double>(index));
}

QRect TopologyView::rect_of_coordinator() const { return box(kCoordinatorX, kPathY); }

// Each connected agent and aggregator has a session with the coordinator. Updates take the path of
// the newest round, which all agents have left if the run is over.
void TopologyView::paint_links(QPainter& painter) const {
  const PlotColours colours = plot_colours(palette());
  const QRect coordinator = rect_of_coordinator();
  const QPen sessions(colours.axis, kSessionsPenWidth, Qt::DashLine);
  const QPen updates(path_colour(topology_.path, colours.dark), kUpdatesPenWidth);
  const bool over = std::ranges::none_of(topology_.agents, &TopologyAgent::connected);
  const std::size_t shown = std::min(topology_.agents.size(), kAgentsMax);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool connected = topology_.agents[i].connected;
    const bool by_star = topology_.path == TopologyPath::star;
    const QRect agent = rect_of_agent(i);
    painter.setPen(sessions);
    if (connected && !by_star) painter.drawLine(link_between(agent, coordinator));
    if (!connected && !over) continue;
    painter.setPen(updates);
    if (by_star) painter.drawLine(link_between(agent, coordinator));
    if (topology_.used) painter.drawLine(link_between(agent, rect_of_used()));
  }
  painter.setPen(sessions);
  if (topology_.used) painter.drawLine(link_between(rect_of_used(), coordinator));
  for (std::size_t i = 0; i < std::min(topology_.not_used.size(), kNotUsedMax); ++i) {
    painter.drawLine(link_between(rect_of_not_used(i), coordinator));
  }
}

void TopologyView::paint_machines(QPainter& painter) const {
  const PlotColours colours = plot_colours(palette());
  const auto machine = [&](const QRect& at, const QString& name, const QString& below,
                           const QColor& edge, const QColor& ink) {
    painter.setPen(QPen(edge, 2));
    painter.setBrush(colours.ground);
    painter.drawRoundedRect(at, kBoxCorner, kBoxCorner);
    painter.setPen(ink);
    const QString upper = fontMetrics().elidedText(name, Qt::ElideMiddle, at.width() - 8);
    const QString lower = fontMetrics().elidedText(below, Qt::ElideMiddle, at.width() - 8);
    painter.drawText(at, Qt::AlignCenter, below.isEmpty() ? upper : upper + "\n" + lower);
  };
  const std::size_t shown = std::min(topology_.agents.size(), kAgentsMax);
  for (std::size_t i = 0; i < shown; ++i) {
    const TopologyAgent& agent = topology_.agents[i];
    machine(rect_of_agent(i), agent.id, {}, agent.connected ? agent.colour : colours.faint,
            agent.connected ? colours.text : colours.faint);
  }
  if (topology_.agents.size() > shown) {
    const QRect last = rect_of_agent(shown - 1);
    painter.setPen(colours.faint);
    painter.drawText(last.translated(0, last.height() + 4), Qt::AlignCenter,
                     QString("and %1 more").arg(topology_.agents.size() - shown));
  }
  machine(rect_of_coordinator(), "coordinator", {}, colours.text, colours.text);
  if (topology_.used) {
    machine(rect_of_used(), topology_.used->id, topology_.used->address,
            path_colour(TopologyPath::in_network, colours.dark), colours.text);
  }
  for (std::size_t i = 0; i < std::min(topology_.not_used.size(), kNotUsedMax); ++i) {
    machine(rect_of_not_used(i), topology_.not_used[i].id, "not in use", colours.faint,
            colours.text);
  }
}

void TopologyView::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const PlotColours colours = plot_colours(palette());
  painter.fillRect(rect(), colours.ground);
  if (topology_.title.isEmpty()) return;
  painter.setRenderHint(QPainter::Antialiasing);
  paint_links(painter);
  paint_machines(painter);
  const int line = fontMetrics().lineSpacing();
  painter.setPen(colours.text);
  painter.drawText(QRect(4, 0, width() - 8, line), Qt::AlignLeft | Qt::AlignVCenter,
                   fontMetrics().elidedText(topology_.title, Qt::ElideRight, width() - 8));
  painter.setPen(colours.faint);
  painter.drawText(QRect(4, height() - line, width() - 8, line), Qt::AlignLeft | Qt::AlignVCenter,
                   fontMetrics().elidedText(kTopologyLegend, Qt::ElideRight, width() - 8));
}

}  // namespace tributary::dashboard
