#include "cli/report/run_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/run/frame_facts.h"
#include "core/run/round_counts.h"
#include "core/store/coordinator/readable.h"
#include "core/store/coordinator/stored_frames.h"

namespace tributary::report {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
// Limits of what is held in memory. The report states what it omits.
constexpr std::uint64_t kRoundsMax = 200'000;
constexpr std::size_t kMetricsMax = 1'000'000;
constexpr std::size_t kLinksMax = 500'000;
constexpr std::size_t kTroublesMax = 50;
// Rows read at a time.
constexpr std::uint32_t kPage = 2'000;

// Keeps the order of the first appearance.
template <typename List>
void add_once(List& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

// A round with one codec for all buckets gives one name; otherwise the names are joined by " + ".
template <typename Member>
std::string joined(const std::vector<ExchangeUse>& exchanges, Member member) {
  std::vector<std::string> texts;
  for (const ExchangeUse& exchange : exchanges) add_once(texts, exchange.*member);
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " + ") + text;
  return all;
}

// The mean of the finite values; NaN without any.
class Mean {
 public:
  void take(double value) {
    if (!std::isfinite(value)) return;
    sum_ += value;
    count_ += 1;
  }
  double value() const { return count_ > 0 ? sum_ / count_ : kNone; }

 private:
  double sum_ = 0;
  double count_ = 0;
};

// Reads one job in pages, so that the memory in use does not grow with the journal. The order
// matters: rounds need the members of their epochs, and agents are known only after the rounds.
class Reading {
 public:
  Reading(RunFile& file, RunData& data) : file_(file), data_(data) {}

  Status read(const JobRecord& job) {
    data_.job = job.job;
    read_job(job);
    TRIBUTARY_ASSIGN(data_.missing, file_.missing());
    if (data_.missing.any()) data_.left_out.push_back(data_.missing.text(file_.database().path()));
    TRIBUTARY_TRY(read_epochs());
    TRIBUTARY_TRY(read_rounds());
    TRIBUTARY_TRY(read_agents());
    TRIBUTARY_TRY(read_metrics());
    TRIBUTARY_TRY(read_links());
    return read_events();
  }

 private:
  // A definition that this build cannot read leaves name and model empty; the report then shows the
  // number.
  void read_job(const JobRecord& job) {
    data_.state = wire::EnumNameJobState(job.state);
    data_.state_reason = job.state_reason;
    JobDefinition definition = job_definition(job.definition);
    data_.job_name = std::move(definition.name);
    data_.model = std::move(definition.model);
    data_.rounds_configured = definition.rounds_configured;
    data_.parameters = definition.parameters;
  }

  // Members by epoch, needed to count the rounds of which an agent was a member.
  Status read_epochs() {
    TRIBUTARY_ASSIGN(const std::vector<EpochRecord> epochs, file_.epochs(data_.job));
    for (const EpochRecord& epoch : epochs) {
      std::vector<std::string>& members = members_[epoch.epoch];
      for (const MemberRecord& member : epoch.members) members.push_back(member.agent_id);
    }
    return {};
  }

  // --- rounds

  Status read_rounds() {
    TRIBUTARY_ASSIGN(const std::uint64_t last, file_.last_round(data_.job));
    std::uint64_t first = 1;
    if (last > kRoundsMax) {
      first = last - kRoundsMax + 1;
      data_.left_out.push_back(
          fmt::format("This report has {} rounds: only the last {} are shown.", last, kRoundsMax));
    }
    for (; first <= last; first += kPage) {
      TRIBUTARY_TRY(read_page(first, std::min<std::uint64_t>(last, first + kPage - 1)));
    }
    return {};
  }

  Status read_page(std::uint64_t first, std::uint64_t last) {
    TRIBUTARY_ASSIGN(const std::vector<RoundDate> dates, file_.round_dates(data_.job, first, last));
    TRIBUTARY_ASSIGN(const std::vector<RoundRecord> records, file_.rounds(data_.job, first, last));
    const std::size_t begin = data_.rounds.size();
    auto date = dates.begin();
    for (const RoundRecord& record : records) {
      // Both lists ascend. A round that was committed between the two queries has no date yet and
      // is left out.
      while (date != dates.end() && date->round < record.id.round) ++date;
      if (date == dates.end() || date->round != record.id.round) continue;
      add_round(record, date->committed_wall_ns);
    }
    return read_reports(begin, first, last);
  }

  void add_round(const RoundRecord& record, std::int64_t committed_wall_ns) {
    // The duration is from the monotonic clock, the end from the wall clock.
    const auto length_s = static_cast<double>(record.committed_at_ns - record.began_at_ns) / 1e9;
    // The first round defines second 0 of the report.
    if (data_.rounds.empty()) {
      data_.began_wall_ns = committed_wall_ns - (record.committed_at_ns - record.began_at_ns);
    }
    RoundRow& row = data_.rounds.emplace_back();
    row.round = record.id.round;
    row.attempt = record.id.attempt;
    row.ended_s = seconds_of(committed_wall_ns);
    row.began_s = row.ended_s - length_s;
    // A plan without a list of participants asks every member.
    row.members = row.asked = record.members;
    row.bytes_up = record.bytes_up;
    row.bytes_down = record.bytes_down;
    row.model_hash = record.model_hash;
    add_counts(record, row);
    if (const wire::Plan* plan = stored_plan(record.plan)) read_plan(*plan, row);
  }

  void add_counts(const RoundRecord& record, RoundRow& row) {
    const RoundCounts counts =
        count_round(record.members, record.buckets, record.outcomes, record.contributor_sets);
    row.contributors = counts.contributors.count();
    const double dense_bytes =
        data_.parameters > 0 ? 4 * static_cast<double>(data_.parameters) : kNone;
    row.dense_bytes_up = dense_bytes * counts.dense_updates_up;
    row.dense_bytes_down = dense_bytes * counts.dense_updates_down;
    const auto members = members_.find(record.id.epoch);
    if (members == members_.end()) return;
    // Bit i of a set stands for member i of the epoch.
    for (std::size_t i = 0; i < members->second.size(); ++i) {
      AgentRow& agent = agents_[members->second[i]];
      ++agent.rounds_member;
      if (counts.contributors.test(i)) ++agent.rounds_contributed;
    }
  }

  // Exchanges are ordered by their number of values, so that the first one is the round's main one.
  static void read_plan(const wire::Plan& plan, RoundRow& row) {
    row.planned = true;
    if (plan.participants() && plan.participants()->size() > 0) {
      row.asked = 0;
      for (const std::uint8_t byte : *plan.participants()) {
        row.asked += static_cast<std::uint32_t>(std::popcount(byte));
      }
    }
    if (const wire::Reason* reason = plan.reason()) {
      row.trigger = wire::EnumNameTrigger(reason->trigger());
      row.sentence = stored_text(reason->sentence());
    }
    if (!plan.exchanges() || !plan.buckets()) return;
    const std::vector<std::uint64_t> values = exchange_values(plan);
    for (const wire::Exchange* exchange : *plan.exchanges()) {
      row.exchanges.push_back({.codec = stored_text(exchange->codec()),
                               .collective = wire::EnumNameCollective(exchange->collective()),
                               .ratio = planned_ratio(plan, *exchange),
                               .values = values[row.exchanges.size()]});
    }
    std::erase_if(row.exchanges, [](const ExchangeUse& exchange) { return exchange.values == 0; });
    std::ranges::stable_sort(row.exchanges, std::greater<>(), &ExchangeUse::values);
  }

  // Reports are sorted by round, so one pass is enough.
  Status read_reports(std::size_t begin, std::uint64_t first, std::uint64_t last) {
    TRIBUTARY_ASSIGN(const std::vector<AgentRoundRecord> reports,
                     file_.agent_rounds(data_.job, first, last));
    auto report = reports.begin();
    for (std::size_t i = begin; i < data_.rounds.size(); ++i) {
      RoundRow& row = data_.rounds[i];
      Mean loss;
      Mean compute;
      Mean encode;
      Mean wait;
      // Reports of rounds that were not committed are skipped.
      while (report != reports.end() && report->id.round < row.round) ++report;
      for (; report != reports.end() && report->id.round == row.round; ++report) {
        ++row.reports;
        loss.take(report->loss);
        compute.take(report->compute_s);
        encode.take(report->encode_s);
        wait.take(report->wait_s);
        take_report(*report, row);
      }
      row.train_loss = loss.value();
      row.compute_s = compute.value();
      row.encode_s = encode.value();
      row.wait_s = wait.value();
    }
    return {};
  }

  // `compute_s` is a sum until read_agents() divides it by the number of reports.
  void take_report(const AgentRoundRecord& report, const RoundRow& row) {
    AgentRow& agent = agents_[report.agent_id];
    ++agent.reports;
    agent.compute_s += report.compute_s;
    agent.train_loss = report.loss;
    if (data_.metrics.size() >= kMetricsMax) return;
    data_.metrics.push_back({.name = "agent_loss",
                             .agent_id = report.agent_id,
                             .round = row.round,
                             .time_s = row.ended_s,
                             .value = report.loss});
  }

  // --- what else is known

  Status read_agents() {
    TRIBUTARY_ASSIGN(const std::vector<AgentRecord> known, file_.agents());
    for (const AgentRecord& agent : known) {
      const auto place = agents_.find(agent.agent_id);
      if (place == agents_.end()) continue;  // an agent of another job only
      place->second.device_model = agent.device_model;
      place->second.build = agent.build;
    }
    for (auto& [agent_id, agent] : agents_) {
      agent.agent_id = agent_id;
      agent.compute_s =
          agent.reports > 0 ? agent.compute_s / static_cast<double>(agent.reports) : kNone;
      if (agent.reports == 0) agent.train_loss = kNone;
      data_.agents.push_back(agent);
    }
    return {};
  }

  // Pages follow the row number, so rows that the coordinator adds meanwhile are read at the end.
  Status read_metrics() {
    for (std::int64_t after = 0;;) {
      TRIBUTARY_ASSIGN(const std::vector<StoredMetric> page, file_.metrics(after, kPage));
      if (page.empty()) return {};
      after = page.back().number;
      for (const StoredMetric& metric : page) {
        // Job 0 marks readings of the coordinator as a whole.
        if (metric.job != 0 && metric.job != data_.job) continue;
        if (data_.metrics.size() >= kMetricsMax) {
          data_.left_out.push_back(
              fmt::format("This report contains only the first {} readings.", kMetricsMax));
          return {};
        }
        data_.metrics.push_back({.name = metric.name,
                                 .agent_id = metric.agent_id,
                                 .round = metric.round,
                                 .time_s = seconds_of(metric.at_wall_ns),
                                 .value = metric.value});
      }
    }
  }

  // Only links between the coordinator and the agents of this job.
  Status read_links() {
    // The journal has the links of all jobs.
    std::set<std::string> agents;
    for (const AgentRow& agent : data_.agents) agents.insert(agent.agent_id);
    for (std::int64_t after = 0;;) {
      TRIBUTARY_ASSIGN(const std::vector<StoredLinkSample> page, file_.link_samples(after, kPage));
      if (page.empty()) return {};
      after = page.back().number;
      for (const StoredLinkSample& stored : page) {
        const LinkSampleRecord& sample = stored.sample;
        // An empty name stands for the coordinator.
        if (!sample.from.empty() && !sample.to.empty()) continue;  // a link between two agents
        const bool to_agent = !sample.to.empty();
        const std::string& agent = to_agent ? sample.to : sample.from;
        if (!agents.contains(agent)) continue;
        if (data_.links.size() >= kLinksMax) {
          data_.left_out.push_back(
              fmt::format("This report contains only the first {} link samples.", kLinksMax));
          return {};
        }
        data_.links.push_back({.agent_id = agent,
                               .time_s = seconds_of(sample.at_wall_ns),
                               .to_agent = to_agent,
                               .alpha_s = sample.alpha_s,
                               .beta_s_per_byte = sample.beta_s_per_byte});
      }
    }
  }

  Status read_events() {
    // Events of the same kind are one row with a count and the newest text, however many there are.
    std::map<std::tuple<LogLevel, std::string, std::string>, TroubleRow> troubles;
    for (std::int64_t after = 0;;) {
      TRIBUTARY_ASSIGN(const std::vector<StoredEvent> page, file_.events(after, kPage));
      if (page.empty()) break;
      after = page.back().number;
      for (const StoredEvent& event : page) {
        if (event.job != 0 && event.job != data_.job) continue;
        if (event.name == "round_aborted") ++data_.aborts;
        if (event.name == "replica_diverged") ++data_.divergences;
        if (event.level < LogLevel::warning) continue;
        TroubleRow& row = troubles[{event.level, event.name, event.reason}];
        row.level = event.level;
        row.name = event.name;
        row.reason = event.reason;
        row.last_round = event.round;
        row.last_text = event.text;
        ++row.count;
      }
    }
    for (auto& [key, row] : troubles) data_.troubles.push_back(std::move(row));
    std::ranges::stable_sort(data_.troubles, std::greater<>(), &TroubleRow::count);
    if (data_.troubles.size() > kTroublesMax) {
      data_.left_out.push_back(fmt::format(
          "The run has {} kinds of warnings and errors; the {} most frequent are shown.",
          data_.troubles.size(), kTroublesMax));
      data_.troubles.resize(kTroublesMax);
    }
    return {};
  }

  // Seconds since the start of the first round; negative before it.
  double seconds_of(std::int64_t wall_ns) const {
    return static_cast<double>(wall_ns - data_.began_wall_ns) / 1e9;
  }

  RunFile& file_;
  RunData& data_;
  std::map<std::uint32_t, std::vector<std::string>> members_;  // by epoch
  std::map<std::string, AgentRow> agents_;
};

// The newest job first: a name may have been used more than once.
Result<JobRecord> find_job(RunFile& file, const std::string& name_or_number) {
  TRIBUTARY_ASSIGN(const std::vector<JobRecord> jobs, file.jobs());
  std::string names;
  for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {
    const std::string name = readable_job_name(job->definition).value_or("");
    if (name_or_number.empty() || name_or_number == name ||
        name_or_number == fmt::format("{}", job->job))
      return *job;
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", name);
  }
  TRIBUTARY_ASSIGN(const MissingRounds missing, file.missing());
  return Status(StatusCode::not_found,
                {.what = "job in the journal",
                 .expected = jobs.empty() ? "at least one job" : "one of " + names,
                 .got = name_or_number.empty() ? "none" : fmt::format("'{}'", name_or_number),
                 .remedy = missing.any()  ? missing.text(file.database().path())
                           : jobs.empty() ? "submit a job with 'tributary job submit'"
                                          : "use the name or the number of a job"});
}

}  // namespace

std::string RoundRow::codecs() const { return joined(exchanges, &ExchangeUse::codec); }
std::string RoundRow::collectives() const { return joined(exchanges, &ExchangeUse::collective); }
double RoundRow::ratio() const { return exchanges.empty() ? kNone : exchanges.front().ratio; }

std::map<std::string, std::vector<MetricRow>> RunData::metric(std::string_view name) const {
  std::map<std::string, std::vector<MetricRow>> found;
  for (const MetricRow& row : metrics) {
    if (row.name == name) found[row.agent_id].push_back(row);
  }
  return found;
}

Result<RunData> read_run(RunFile& file, const std::string& job) {
  TRIBUTARY_ASSIGN(const JobRecord record, find_job(file, job));
  RunData data;
  TRIBUTARY_TRY(Reading(file, data).read(record));
  return data;
}

}  // namespace tributary::report
