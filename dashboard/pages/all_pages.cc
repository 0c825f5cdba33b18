#include "dashboard/pages/all_pages.h"

#include "dashboard/pages/agents/agents_page.h"
#include "dashboard/pages/aggregator/aggregator_page.h"
#include "dashboard/pages/control/control_page.h"
#include "dashboard/pages/decisions/decisions_page.h"
#include "dashboard/pages/events/events_page.h"
#include "dashboard/pages/overview/overview_page.h"
#include "dashboard/pages/round/round_page.h"
#include "dashboard/pages/traffic/traffic_page.h"

namespace tributary::dashboard {
namespace {

struct PageMaker {
  const char* name;
  std::unique_ptr<Page> (*make)(PageContext& context);
};

template <typename OnePage>
std::unique_ptr<Page> made(PageContext& context) {
  return std::make_unique<OnePage>(context);
}

// The order determines the tabs and the keys Alt+1, Alt+2, and so on.
constexpr PageMaker kPageMakers[] = {
    {"overview", made<OverviewPage>},   {"traffic", made<TrafficPage>},
    {"decisions", made<DecisionsPage>}, {"agents", made<AgentsPage>},
    {"round", made<RoundPage>},         {"events", made<EventsPage>},
    {"control", made<ControlPage>},     {"aggregator", made<AggregatorPage>},
};

}  // namespace

std::vector<QString> page_names() {
  std::vector<QString> names;
  for (const PageMaker& maker : kPageMakers) names.emplace_back(maker.name);
  return names;
}

std::vector<std::unique_ptr<Page>> make_all_pages(PageContext& context) {
  std::vector<std::unique_ptr<Page>> pages;
  for (const PageMaker& maker : kPageMakers) pages.push_back(maker.make(context));
  return pages;
}

std::unique_ptr<Page> make_page(const QString& name, PageContext& context) {
  for (const PageMaker& maker : kPageMakers) {
    if (name == maker.name) return maker.make(context);
  }
  return nullptr;
}

}  // namespace tributary::dashboard
