// The data of one run as pages display it, as plain values. A RunFollower reads them on another
// thread and passes them as RunChanges.
//
// RunLimits bound the memory: curves drop their oldest samples, tables their oldest rows. All
// curves of one kind share that kind's samples. Each curve gets its share when its first sample
// arrives, as if every agent known at that time had one. Agents are announced before their reports,
// so shares are even. If n curves appear unexpectedly, they hold at most 1 + ln(n / 16) times the
// limit.
//
// Used by one thread at a time. Pointers from queries are valid until the next apply().
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

// Bounds on what a view keeps.
struct RunLimits {
  std::size_t jobs_max = 64;
  std::size_t rounds_max = 200'000;  // of a job; a coordinator's own metrics likewise
  std::size_t agents_max = 16'384;   // per run
  // All agents together, see above. A hundred agents with ten reports per second fill it within
  // five minutes; it then takes 55 MiB.
  std::size_t reports_max = 300'000;
  std::size_t metrics_max = 1'000'000;
  std::size_t metric_curves_max = 16'384;
  std::size_t link_samples_max = 200'000;
  std::size_t links_max = 16'384;
  std::size_t events_max = 50'000;
};

// One metric of one agent, or of the coordinator, over rounds and over time.
struct MetricCurve {
  MetricCurve(NewMetric of, std::size_t samples_max)
      : job(of.job),
        name(std::move(of.name)),
        agent_id(std::move(of.agent_id)),
        curve(samples_max) {}

  std::uint64_t job;
  std::string name;
  std::string agent_id;  // empty: a metric of the coordinator
  TwoCurves curve;
  // Over all values that are no gaps; NaN before the first.
  double last = kUnknown;
  double lowest = kUnknown;
  double highest = kUnknown;

  // The highest value, or the lowest for a metric that should be small (loss, error, seconds).
  double best() const;
};

// The curves of one agent in one job, over rounds. Wait, decode time and bytes of a round are known
// only with the agent's next report.
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

// The curves of one link direction between two ends, over time.
struct LinkCurves {
  explicit LinkCurves(std::size_t samples_max)
      : alpha_s(std::make_shared<Series>(samples_max)),
        beta_s_per_byte(std::make_shared<Series>(samples_max)) {}

  std::shared_ptr<Series> alpha_s;
  std::shared_ptr<Series> beta_s_per_byte;
  double alpha_last_s = kUnknown;  // last measured value
  double beta_last_s_per_byte = kUnknown;
};

// An agent and its latest values, one row of the agents page.
struct AgentRow {
  // Without an id if the file contains reports of an agent that it does not name.
  AgentInfo info = {};
  std::uint64_t reports = 0;
  // As in the file: wait, decode time and bytes are those of the round before.
  NewReport last = {.loss = kUnknown,
                    .compute_s = kUnknown,
                    .encode_s = kUnknown,
                    .wait_s = kUnknown,
                    .update_norm = kUnknown,
                    .residual_norm = kUnknown,
                    .decode_s = kUnknown,
                    .gain = kUnknown};
  std::string metric = {};  // metric of the next two fields: its accuracy, or else its loss
  double metric_last = kUnknown;
  double metric_best = kUnknown;
  double alpha_up_s = kUnknown;
  double beta_up_s_per_byte = kUnknown;
  double alpha_down_s = kUnknown;
  double beta_down_s_per_byte = kUnknown;
  double ratio = kUnknown;
  double gain = kUnknown;           // last reported value
  double temperature_c = kUnknown;  // only for devices that report such readings
  double power_w = kUnknown;
};

class RunView {
 public:
  explicit RunView(const RunLimits& limits = {});

  // Adds changes in the order in which rows refer to one another; costs time in proportion to their
  // number.
  void apply(RunChanges&& changes);

  std::int64_t base_wall_ns() const { return base_wall_ns_; }
  bool overview_read() const { return overview_read_; }
  // A warning about the file itself; empty: none.
  const std::string& file_warning() const { return file_warning_; }
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
  const std::deque<EventRow>& events() const { return events_; }  // oldest first

  // Each counter increases with every change of its part, so a page can skip a repaint.
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
  // Number of jobs, agents, curves and links that were left out because of the limits.
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
  static void append_round_before(const NewReport& report, AgentCurves& curves);
  void take(const NewReport& report);
  void take(const NewLinkSample& sample);
  void take(EventRow&& event);
  void show_metric(const MetricCurve& metric);
  AgentRow* row_of(std::int64_t number);  // creates the row if necessary; null: the table is full
  AgentRow* row_of(std::string_view agent_id);  // null: unknown
  void fill(AgentRow& row);
  std::size_t share_of(std::size_t samples_max, std::size_t curves) const;
  template <typename Part, typename Items>
  void take_all(Part& revision, Items& items);

  RunLimits limits_;
  std::int64_t base_wall_ns_ = 0;
  std::string file_warning_;
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
