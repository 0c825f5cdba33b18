// What is known of one run, as pages show it. Plain values: a RunFollower reads them on a thread of
// its own and hands them over as RunChanges.
//
// Memory is bounded by RunLimits: of a curve the oldest samples go, of a table the oldest rows. Of
// many curves of one kind each gets a share of that kind's samples when its first one comes: as if
// every agent that is known then had one. Agents are told before what they report, so that shares
// are even; of n curves that nobody could foresee all hold at most 1 + ln(n / 16) times as many as
// the limit says.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/run/run_changes.h"
#include "core/run/series/series.h"
#include "core/run/view/round_table.h"

namespace tributary::dashboard {

struct RunLimits {
  std::size_t jobs_max = 64;
  std::size_t rounds_max = 200'000;  // of a job; a coordinator's own metrics likewise
  std::size_t agents_max = 16'384;   // of the run
  // Of all agents together, see above: a hundred of them that report ten times a second fill it
  // within five minutes, and take 55 MiB from then on.
  std::size_t reports_max = 300'000;
  std::size_t metrics_max = 1'000'000;
  std::size_t metric_curves_max = 16'384;
  std::size_t link_samples_max = 200'000;
  std::size_t links_max = 16'384;
  std::size_t events_max = 50'000;
};

struct MetricCurve {
  MetricCurve(NewMetric of, std::size_t samples_max)
      : job(of.job),
        name(std::move(of.name)),
        agent_id(std::move(of.agent_id)),
        curve(samples_max) {}

  std::uint64_t job;
  std::string name;
  std::string agent_id;  // empty: the coordinator's
  TwoCurves curve;
  // Of what is no gap, ever; NaN before there is any.
  double last = kUnknown;
  double lowest = kUnknown;
  double highest = kUnknown;

  // The highest one, and of what is to be small the lowest.
  double best() const;
};

// Of one agent in one job, over rounds.
struct AgentCurves {
  explicit AgentCurves(std::size_t samples_max);

  std::shared_ptr<Series> loss;
  std::shared_ptr<Series> compute_s;
  std::shared_ptr<Series> encode_s;
  std::shared_ptr<Series> wait_s;
  std::shared_ptr<Series> decode_s;
  std::shared_ptr<Series> gain;
  std::shared_ptr<Series> bytes_up;
  std::shared_ptr<Series> bytes_down;
  std::shared_ptr<Series> residual_norm;
  std::shared_ptr<Series> update_norm;
};

// Of one way between two ends, over time.
struct LinkCurves {
  explicit LinkCurves(std::size_t samples_max)
      : alpha_s(std::make_shared<Series>(samples_max)),
        beta_s_per_byte(std::make_shared<Series>(samples_max)) {}

  std::shared_ptr<Series> alpha_s;
  std::shared_ptr<Series> beta_s_per_byte;
  double alpha_last_s = kUnknown;  // of what was measured
  double beta_last_s_per_byte = kUnknown;
};

struct AgentRow {
  AgentInfo info =
      {};  // without an id where the file has reports of an agent that it does not name
  std::uint64_t reports = 0;
  NewReport last = {.loss = kUnknown,
                    .compute_s = kUnknown,
                    .encode_s = kUnknown,
                    .wait_s = kUnknown,
                    .update_norm = kUnknown,
                    .residual_norm = kUnknown,
                    .decode_s = kUnknown,
                    .gain = kUnknown};
  std::string metric = {};  // which one the next two are of: its accuracy, or else its loss
  double metric_last = kUnknown;
  double metric_best = kUnknown;
  double alpha_up_s = kUnknown;
  double beta_up_s_per_byte = kUnknown;
  double alpha_down_s = kUnknown;
  double beta_down_s_per_byte = kUnknown;
  double ratio = kUnknown;
  double gain = kUnknown;           // the last that it told
  double temperature_c = kUnknown;  // of a device that has such readings
  double power_w = kUnknown;
};

class RunView {
 public:
  explicit RunView(const RunLimits& limits = {});

  void apply(RunChanges&& changes);

  std::int64_t base_wall_ns() const { return base_wall_ns_; }
  bool overview_read() const { return overview_read_; }
  const std::vector<JobInfo>& jobs() const { return jobs_; }
  const RoundTable* rounds(std::uint64_t job) const;  // null before the first
  const MetricCurve* metric(std::uint64_t job, std::string_view name,
                            std::string_view agent_id) const;  // null before the first
  std::vector<const MetricCurve*> metrics(std::uint64_t job, std::string_view name) const;
  std::vector<const MetricCurve*> metrics() const;
  // In the order of their numbers in the file.
  const std::vector<AgentRow>& agents() const { return agents_; }
  const AgentRow* agent(std::string_view agent_id) const;
  const AgentCurves* agent_curves(std::uint64_t job, std::string_view agent_id) const;
  // An empty id is the coordinator.
  const LinkCurves* link(std::string_view from, std::string_view to) const;
  std::vector<std::pair<std::string, std::string>> links() const;
  const std::deque<EventRow>& events() const { return events_; }  // the oldest first

  // Each grows with every change of its own part.
  struct Revisions {
    std::uint64_t jobs = 0;
    std::uint64_t rounds = 0;
    std::uint64_t metrics = 0;
    std::uint64_t agents = 0;
    std::uint64_t reports = 0;
    std::uint64_t links = 0;
    std::uint64_t events = 0;
  };
  const Revisions& revisions() const { return revisions_; }
  // What there was no room for: jobs, agents, curves and links beyond the limits.
  std::uint64_t left_out() const { return left_out_; }

 private:
  struct MetricKey {
    std::uint64_t job = 0;
    std::string name;
    std::string agent_id;
    friend auto operator<=>(const MetricKey&, const MetricKey&) = default;
  };

  void forget();
  void take(std::vector<JobInfo>&& jobs);
  void take(std::vector<AgentInfo>&& agents);
  void take(const NewRound& round);
  void take(const NewPlan& plan);
  void take(const AgentRatio& ratio);
  void take(NewMetric&& metric);
  void take(const NewReport& report);
  void take(const NewLinkSample& sample);
  void take(EventRow&& event);
  void show_metric(const MetricCurve& metric);
  AgentRow* row_of(std::int64_t number);        // made, if there is none; null: no room
  AgentRow* row_of(std::string_view agent_id);  // null: unknown
  void fill(AgentRow& row);
  std::size_t share_of(std::size_t samples_max, std::size_t curves) const;
  template <typename Part, typename Items>
  void take_all(Part& revision, Items& items);

  RunLimits limits_;
  std::int64_t base_wall_ns_ = 0;
  bool overview_read_ = false;
  std::vector<JobInfo> jobs_;
  std::map<std::uint64_t, std::unique_ptr<RoundTable>> rounds_;
  std::map<MetricKey, std::unique_ptr<MetricCurve>> metrics_;
  std::vector<AgentRow> agents_;
  std::map<std::int64_t, std::size_t> row_by_number_;
  std::map<std::string, std::size_t, std::less<>> row_by_id_;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::unique_ptr<AgentCurves>> curves_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<LinkCurves>> links_;
  std::deque<EventRow> events_;
  Revisions revisions_;
  std::uint64_t left_out_ = 0;
};

}  // namespace tributary::dashboard
