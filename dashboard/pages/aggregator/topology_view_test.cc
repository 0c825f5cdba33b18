// Tests of the picture of a job's machines: an aggregator in use is on the path.
#include "dashboard/pages/aggregator/topology_view.h"

#include <gtest/gtest.h>

#include "dashboard/plot/data/name_colours.h"
#include "dashboard/plot/plot_testing.h"

namespace tributary::dashboard {
namespace {

class TopologyViewTest : public testing::Test {
 protected:
  TopologyViewTest() {
    view_.setPalette(palette_for_tests(false));
    view_.resize(800, 300);
    shown_.title = "Round 3";
    for (const char* id : {"a", "b", "c"}) shown_.agents.push_back({.id = id, .colour = Qt::blue});
  }
  QImage picture(const Topology& topology) {
    view_.show_topology(topology);
    return view_.grab().toImage();
  }
  static QColor colour_of(const char* collective) {
    return slot_colour(slot_of_name(collective), false);
  }
  // Whether the path of updates has this colour halfway between the agents and the aggregator.
  bool left_of_the_middle(const QImage& picture, const char* collective) const {
    return has_colour(picture.copy(230, 20, 70, 250), colour_of(collective), 12);
  }

  TopologyView view_;
  Topology shown_;
};

TEST_F(TopologyViewTest, AnAggregatorInUseIsBetweenTheAgentsAndTheCoordinator) {
  shown_.path = TopologyPath::in_network;
  shown_.used = {.id = "gateway-1", .address = "192.0.2.1:4650"};
  const QImage image = picture(shown_);
  const QRect used = view_.rect_of_used();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(view_.rect_of_agent(i).right(), used.left());
  EXPECT_LT(used.right(), view_.rect_of_coordinator().left());
  EXPECT_GT(inked_share(image.copy(used.adjusted(4, 4, -4, -4)), Qt::white), 0.02) << "its name";
  EXPECT_TRUE(left_of_the_middle(image, "in_network"));
  EXPECT_FALSE(left_of_the_middle(image, "star"));
  EXPECT_TRUE(view_.accessibleName().contains("aggregator in use: gateway-1"));
}

TEST_F(TopologyViewTest, AnAggregatorThatIsNotInUseIsBesideThePath) {
  shown_.path = TopologyPath::star;
  shown_.not_used = {{.id = "gateway-1"}};
  const QImage image = picture(shown_);
  EXPECT_TRUE(view_.rect_of_used().isEmpty());
  EXPECT_GT(view_.rect_of_not_used(0).top(), view_.rect_of_coordinator().bottom());
  EXPECT_TRUE(left_of_the_middle(image, "star"));
  EXPECT_FALSE(left_of_the_middle(image, "in_network"));
}

// A run that is over shows the path of its last round; a lost agent of a running job has none.
TEST_F(TopologyViewTest, OnlyAllAgentsTogetherKeepTheirPathWhenTheyAreGone) {
  shown_.path = TopologyPath::in_network;
  shown_.used = {.id = "gateway-1"};
  for (TopologyAgent& agent : shown_.agents) agent.connected = false;
  EXPECT_TRUE(left_of_the_middle(picture(shown_), "in_network"));
  shown_.agents.resize(1);
  shown_.agents.push_back({.id = "b", .connected = true, .colour = Qt::blue});
  const QImage image = picture(shown_);
  const QRect gone = view_.rect_of_agent(0);
  const QRect beside(gone.right() + 3, gone.top(), 40, gone.height());
  EXPECT_EQ(inked_share(image.copy(beside), Qt::white), 0);
}

TEST_F(TopologyViewTest, ManyAgentsAreCounted) {
  shown_.agents.resize(64, {.id = "agent"});
  picture(shown_);
  EXPECT_FALSE(view_.rect_of_agent(TopologyView::kAgentsMax - 1).isEmpty());
  EXPECT_TRUE(view_.rect_of_agent(TopologyView::kAgentsMax).isEmpty());
  EXPECT_TRUE(view_.accessibleName().contains("64 agents"));
}

TEST_F(TopologyViewTest, IsEmptyWithoutARun) { EXPECT_EQ(inked_share(picture({}), Qt::white), 0); }

}  // namespace
}  // namespace tributary::dashboard
