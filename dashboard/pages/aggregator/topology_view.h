// A picture of the machines of a job: agents on the left, the coordinator on the right, and the
// aggregators in the network. The aggregator that summed the newest round stands on the path
// between them. Connected ones that are not in use stand below. GUI thread only; it copies what it
// shows.
#pragma once

#include <QColor>
#include <QString>
#include <QWidget>
#include <optional>
#include <vector>

namespace tributary::dashboard {

struct TopologyAgent {
  QString id = {};
  bool connected = true;
  QColor colour = {};  // as on other pages
};

struct TopologyAggregator {
  QString id = {};
  QString address = {};
};

// Where updates travelled in the newest round.
enum class TopologyPath { unknown, in_network, star, other };

struct Topology {
  std::vector<TopologyAgent> agents = {};
  TopologyPath path = TopologyPath::unknown;
  QString title = {};                             // of the picture
  std::optional<TopologyAggregator> used = {};    // only if the path is in_network
  std::vector<TopologyAggregator> not_used = {};  // connected
};

class TopologyView : public QWidget {
  Q_OBJECT

 public:
  // Further agents and aggregators appear as a count.
  static constexpr std::size_t kAgentsMax = 8;
  static constexpr std::size_t kNotUsedMax = 2;

  explicit TopologyView(QWidget* parent = nullptr);

  void show_topology(Topology topology);
  void clear() { show_topology({}); }
  const Topology& topology() const { return topology_; }

  // Where a machine is drawn; empty rectangles: it is not drawn.
  QRect rect_of_agent(std::size_t index) const;
  QRect rect_of_used() const;
  QRect rect_of_not_used(std::size_t index) const;
  QRect rect_of_coordinator() const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QRect box(double x_share, double y_share) const;
  QRect area() const;
  void paint_links(QPainter& painter) const;
  void paint_machines(QPainter& painter) const;

  Topology topology_;
};

}  // namespace tributary::dashboard
