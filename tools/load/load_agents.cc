#include "tools/load/load_agents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "core/base/log/log.h"
#include "core/net/zmq/spoke.h"
#include "core/round/agent/agent.h"
#include "core/round/common/session/conversation.h"
#include "core/service/loop/machine_loop.h"
#include "core/service/metrics/metrics.h"
#include "core/service/metrics/note_log.h"
#include "core/train/synthetic_trainer.h"
#include "tools/load/light_agent.h"
#include "tools/load/wait_set.h"

namespace tributary {
namespace {

constexpr std::chrono::milliseconds kLookEvery{50};
// A spoke has times of its own at which it connects again.
constexpr TimeNs kAttemptLookEveryNs = 500 * kNsPerMs;
constexpr std::size_t kUpdates = 4;

// The time of the first arrival of each round's commit, and the model hash that it led to.
class Arrivals {
 public:
  Arrivals(std::uint64_t rounds, const Clock& clock) : clock_(clock), first_(rounds + 1) {}

  void applied(std::uint64_t version, std::uint64_t model_hash) {
    const std::lock_guard lock(mutex_);
    // Version 0 is the initial model, which no commit leads to.
    if (version == 0 || version >= first_.size()) return;
    First& first = first_[version];
    if (first.at.count() == 0) first = {.at = clock_.now(), .model_hash = model_hash};
    if (first.model_hash != model_hash) identical_ = false;
    newest_ = std::max(newest_, version);
  }
  std::uint64_t newest() const {
    const std::lock_guard lock(mutex_);
    return newest_;
  }
  void write_to(LoadReport& report) const {
    const std::lock_guard lock(mutex_);
    std::chrono::nanoseconds before{0};
    for (const First& first : first_) {
      if (first.at.count() == 0) continue;
      if (before.count() != 0) {
        report.round_s.push_back(std::chrono::duration<double>(first.at - before).count());
        report.seconds += report.round_s.back();
      }
      before = first.at;
    }
    report.replicas_identical = identical_;
  }

 private:
  struct First {
    std::chrono::nanoseconds at{0};
    std::uint64_t model_hash = 0;
  };
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<First> first_;  // by version
  std::uint64_t newest_ = 0;
  bool identical_ = true;
};

// Records whether a session was lost, and nothing else.
class LossLog final : public Log {
 public:
  bool enabled(LogLevel level) const override { return level >= LogLevel::info; }
  void write(const LogEvent& event) override {
    if (event.message == "session_lost" || event.message == "disconnected") lost_ = true;
  }
  bool lost() const { return lost_; }

 private:
  bool lost_ = false;
};

// The state that all agents of the process share.
struct Shared {
  const LoadOptions& options;
  const Clock& clock;
  std::shared_ptr<LinkContext> context;
  std::shared_ptr<SharedReplica> replica;                      // null: each agent has its own
  std::array<std::shared_ptr<FloatVector>, kUpdates> updates;  // used without a shared replica
  Arrivals arrivals;
  std::unique_ptr<Metrics> metrics;
};

// One agent of the load: a connection with a state machine that either is the real one or shares
// its replica with the other agents. Belongs to one thread.
class LoadAgent {
 public:
  static Result<std::unique_ptr<LoadAgent>> make(Shared& shared, std::uint32_t number) {
    std::unique_ptr<LoadAgent> agent(new LoadAgent(shared, number));
    TRIBUTARY_TRY(agent->open());
    return agent;
  }

  // Processes everything that is there.
  Status go_on() {
    for (bool happened = true; happened;) {
      if (!status_.ok()) return status_;
      TRIBUTARY_ASSIGN(happened, loop_->turn(loop_->now()));
    }
    return {};
  }
  // When go_on() has something to do again: at this time, or if one of the descriptors is readable.
  TimeNs next_due_ns() const {
    return std::min(loop_->next_due_ns(), loop_->now() + kAttemptLookEveryNs);
  }
  std::vector<int> readable_files() const { return link_->readable_files(); }
  // An agent that has the last model may still owe the coordinator an answer, so it must be idle,
  // too.
  bool finished() const {
    if (light_) return light_->model_version() >= shared_.options.rounds && light_->idle();
    return machine_->model_version() >= shared_.options.rounds && machine_->idle();
  }
  void add_to(LoadReport& report) const {
    if (finished()) ++report.agents_finished;
    if (log_.lost()) ++report.agents_lost;
    const LinkCounters counters = link_->counters();
    report.bytes_up += counters.bytes_out;
    report.bytes_down += counters.bytes_in;
  }

 private:
  LoadAgent(Shared& shared, std::uint32_t number)
      : shared_(shared), number_(number), notes_(log_, shared.clock, *shared.metrics) {}

  Status open();
  LoopParts wiring();
  Actions handle_light(TimeNs now, const Event& event);
  void execute(Action& action);

  Shared& shared_;
  const std::uint32_t number_;
  LossLog log_;
  NoteLog notes_;
  std::unique_ptr<Spoke> link_;
  std::unique_ptr<Agent> machine_;  // one of machine_ and light_ is set
  std::unique_ptr<LightAgent> light_;
  std::uint64_t version_reported_ = 0;
  std::unique_ptr<MachineLoop> loop_;
  Status status_;
};

Status LoadAgent::open() {
  const LoadOptions& options = shared_.options;
  TRIBUTARY_ASSIGN(link_, open_spoke({.endpoint = options.endpoint,
                                      .keys = options.keys[number_],
                                      .hub = options.coordinator,
                                      .encrypted = options.encrypted,
                                      .seed = number_,
                                      .context = shared_.context}));
  AgentConfig config;
  config.agent_id = fmt::format("load-{}", number_);
  config.incarnation = number_ + 1;
  if (shared_.replica) {
    config.build = "tributary load";
    // Many agents on one machine wait long for their Welcome.
    config.hello_timeout_ms = config.hello_timeout_max_ms = 5'000;
    config.give_up_after_ms = 3'600'000;
    light_ = std::make_unique<LightAgent>(LightAgent::Options{
        .config = std::move(config), .number = number_, .shared = shared_.replica});
  } else {
    TRIBUTARY_ASSIGN(machine_, Agent::make(std::move(config), {}));
  }
  loop_ = std::make_unique<MachineLoop>(wiring());
  return {};
}

LoopParts LoadAgent::wiring() {
  return {.handle =
              [this](TimeNs now, Event event) {
                return light_ ? handle_light(now, event) : machine_->handle(now, std::move(event));
              },
          .next_wakeup_ns =
              [this] { return light_ ? light_->next_wakeup_ns() : machine_->next_wakeup_ns(); },
          .execute = [this](Action& action) { execute(action); },
          .one_peer = true,
          .link = *link_,
          .clock = shared_.clock,
          .notes = notes_};
}

Actions LoadAgent::handle_light(TimeNs now, const Event& event) {
  Actions actions = light_->handle(now, event);
  if (light_->model_version() > version_reported_) {
    version_reported_ = light_->model_version();
    shared_.arrivals.applied(version_reported_, light_->model_hash());
  }
  return actions;
}

void LoadAgent::execute(Action& action) {
  if (const auto* record = std::get_if<StoreAgent>(&action)) {
    if (const auto* replica = std::get_if<ReplicaRecord>(&record->record)) {
      shared_.arrivals.applied(replica->model_version, replica->model_hash);
    }
    loop_->post(Stored{.token = record->token, .status = {}});
  } else if (const auto* order = std::get_if<Train>(&action)) {
    loop_->post(UpdateReady{.token = order->token,
                            .update = shared_.updates[(number_ + order->id.round) % kUpdates],
                            .examples = 1});
    // Training and storage cost nothing here: the load is that of connections, codecs and rounds.
  } else if (const auto* finished = std::get_if<Finished>(&action)) {
    status_ = finished->status;
  }
}

// The agents of one thread. It waits for all of them at once, and handles those that have something
// to do one after the other.
class LoadThread {
 public:
  LoadThread(std::vector<std::unique_ptr<LoadAgent>> agents, const Clock& clock,
             const std::atomic<bool>& stop)
      : clock_(clock),
        agents_(std::move(agents)),
        thread_([this, &stop] { status_ = run(stop); }) {}
  ~LoadThread() { join(); }
  LoadThread(const LoadThread&) = delete;
  LoadThread& operator=(const LoadThread&) = delete;

  // Safe to call repeatedly; the destructor calls it as well.
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  bool ended() const { return ended_; }
  const Status& status() const { return status_; }
  const std::vector<std::unique_ptr<LoadAgent>>& agents() const { return agents_; }

 private:
  Status run(const std::atomic<bool>& stop) {
    Status status = play(stop);
    ended_ = true;
    return status;
  }
  Status play(const std::atomic<bool>& stop) {
    TRIBUTARY_ASSIGN(WaitSet files, WaitSet::open());
    std::vector<TimeNs> due_ns(agents_.size());
    std::vector<bool> finished(agents_.size());
    std::vector<std::size_t> ready;
    while (!stop) {
      const TimeNs now = clock_.now().count();
      for (std::size_t i = 0; i < agents_.size(); ++i) {
        if (due_ns[i] <= now) ready.push_back(i);
      }
      for (const std::size_t i : ready) {
        LoadAgent& agent = *agents_[i];
        TRIBUTARY_TRY(agent.go_on());
        due_ns[i] = agent.next_due_ns();
        finished[i] = agent.finished();
        TRIBUTARY_TRY(files.watch(i, agent.readable_files()));
      }
      // The thread ends once all of its agents have every round.
      if (std::ranges::find(finished, false) == finished.end()) return {};
      const TimeNs wait_ns = std::ranges::min(due_ns) - clock_.now().count();
      TRIBUTARY_ASSIGN(ready, files.wait(std::min<std::chrono::nanoseconds>(
                                  std::chrono::nanoseconds(wait_ns), kLookEvery)));
    }
    return {};
  }

  const Clock& clock_;
  std::vector<std::unique_ptr<LoadAgent>> agents_;
  Status status_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;  // uses the members above, so it is the last one
};

// Distributes the agents evenly over the threads.
Result<std::vector<std::vector<std::unique_ptr<LoadAgent>>>> make_agents(Shared& shared,
                                                                         std::size_t threads) {
  std::vector<std::vector<std::unique_ptr<LoadAgent>>> shares(threads);
  for (std::uint32_t i = 0; i < shared.options.keys.size(); ++i) {
    TRIBUTARY_ASSIGN(std::unique_ptr<LoadAgent> agent, LoadAgent::make(shared, i));
    shares[i % threads].push_back(std::move(agent));
  }
  return shares;
}

// Runs on the caller's thread, because `go_on` need not be thread-safe.
Status watch_threads(const std::vector<std::unique_ptr<LoadThread>>& threads,
                     const Arrivals& arrivals,
                     const std::function<Status(std::uint64_t rounds)>& go_on) {
  const auto ended = [](const auto& thread) { return thread->ended(); };
  while (!std::ranges::all_of(threads, ended)) {
    TRIBUTARY_TRY(go_on(arrivals.newest()));
    std::this_thread::sleep_for(kLookEvery);
  }
  return go_on(arrivals.newest());
}

}  // namespace

Result<LoadReport> run_load(const LoadOptions& options, const Clock& clock,
                            const std::function<Status(std::uint64_t rounds)>& go_on) {
  const auto agents = static_cast<std::uint32_t>(options.keys.size());
  TRIBUTARY_ASSIGN(std::shared_ptr<LinkContext> context,
                   // Each agent needs up to three sockets; the rest are libzmq's own.
                   LinkContext::open({.sockets_max = 3 * agents + 64, .clock = &clock}));
  TRIBUTARY_ASSIGN(std::unique_ptr<Metrics> metrics, open_metrics({}));
  Shared shared{.options = options,
                .clock = clock,
                .context = std::move(context),
                .replica = nullptr,
                .updates = {},
                .arrivals = Arrivals(options.rounds, clock),
                .metrics = std::move(metrics)};
  if (options.share_replica) {
    shared.replica = std::make_shared<SharedReplica>(options.parameters, agents);
  }
  for (std::size_t i = 0; i < kUpdates && !shared.replica; ++i) {
    FloatVector update(options.parameters);
    fill_synthetic_update(i, "load", 1, update);
    shared.updates[i] = std::make_shared<FloatVector>(std::move(update));
  }
  const std::size_t threads = std::clamp<std::size_t>(options.threads, 1, agents);
  TRIBUTARY_ASSIGN(auto shares, make_agents(shared, threads));
  std::atomic<bool> stop = false;
  std::vector<std::unique_ptr<LoadThread>> running;
  for (auto& share : shares)
    running.push_back(std::make_unique<LoadThread>(std::move(share), clock, stop));
  Status status = watch_threads(running, shared.arrivals, go_on);
  // An agent's error ends all threads; the first error is returned.
  stop = true;
  LoadReport report;
  for (const auto& thread : running) {
    thread->join();
    if (status.ok()) status = thread->status();
    for (const auto& agent : thread->agents()) agent->add_to(report);
  }
  TRIBUTARY_TRY(std::move(status));
  shared.arrivals.write_to(report);
  return report;
}

}  // namespace tributary
