// A coordinator and its agents in one process, over a channel that loses, repeats and reorders,
// with journals in memory: what the tests of this folder play with. Everything follows from the
// seed.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/round/agent/agent.h"
#include "core/round/common/plan/round_plan.h"
#include "core/round/common/session/conversation.h"
#include "core/round/coordinator/coordinator.h"
#include "core/sim/federation/federation_options_testing.h"
#include "core/sim/federation/journals_testing.h"
#include "core/sim/federation/peers_testing.h"
#include "schemas/frame.h"

namespace tributary::round_testing {

class Federation {
 public:
  explicit Federation(Options options)
      : options_(std::move(options)),
        map_(std::make_shared<LayerMap>(
            *LayerMap::make({{.name = "matrix", .shape = {8, 40}},
                             {.name = "vector", .shape = {options_.vector_values}}}))),
        rides_(options_.agents) {
    start_coordinator();
    submit();
    for (std::uint32_t i = 0; i < options_.agents; ++i) start_agent(i);
  }

  std::uint64_t values() const { return map_->values(); }
  TimeNs now() const { return now_; }
  Coordinator& coordinator() { return *coordinator_; }
  const CoordinatorJournal& journal() const { return journal_; }
  Agent& agent(std::uint32_t i) { return *rides_[i].agent; }
  bool alive(std::uint32_t i) const { return rides_[i].agent != nullptr; }
  AgentJournal& agent_journal(std::uint32_t i) { return rides_[i].journal; }
  std::vector<AgentReported> reported;  // to a planner
  std::vector<RoundPlayed> played;
  std::vector<Reading> readings;  // of the coordinator
  std::vector<Reading> agent_readings;
  const std::map<std::string, int>& notes() const { return notes_; }
  int noted(const std::string& name) const {
    const auto found = notes_.find(name);
    return found == notes_.end() ? 0 : found->second;
  }
  // The text of the last such note.
  std::string note_text(const std::string& name) const {
    const auto found = note_texts_.find(name);
    return found == note_texts_.end() ? std::string() : found->second;
  }

  // --- what can happen ---
  void crash_coordinator() {
    coordinator_.reset();
    ++coordinator_life_;
  }
  void start_coordinator() {
    CoordinatorConfig config;
    config.incarnation = options_.seed * 1000 + coordinator_life_;
    config.heartbeat_interval_ms = 200;
    config.heartbeat_timeout_ms = 1'000;
    config.ack_timeout_ms = 20;
    config.incoming_bytes_max = options_.incoming_bytes_max;
    config.payload_bytes_max = options_.payload_bytes_max;
    config.history_rounds_max = options_.history_rounds_max;
    config.redo_models = options_.redo_models;
    Result<std::unique_ptr<Coordinator>> made = Coordinator::make(config, journal_.state());
    ASSERT_TRUE(made.ok()) << made.status().text();
    coordinator_ = std::move(*made);
    tick_coordinator();
  }
  void crash_agent(std::uint32_t i) {
    rides_[i].agent.reset();
    peers.gone(i);
    rides_[i].training = false;
    ++rides_[i].life;
  }
  void start_agent(std::uint32_t i) {
    Ride& ride = rides_[i];
    AgentConfig config;
    config.agent_id = "agent-" + std::to_string(i);
    config.incarnation = options_.seed * 1000 + i * 100 + ride.life + 1;
    config.hello_timeout_ms = 50;
    config.hello_timeout_max_ms = 400;
    config.stopwatch = [this] { return stopwatch_ += options_.look_ns; };
    if (options_.peers) config.endpoints = {PeerNetwork::endpoint(i)};
    if (options_.endpoint_of) config.endpoints = {options_.endpoint_of(i)};
    Result<std::unique_ptr<Agent>> made = Agent::make(config, ride.journal.state);
    ASSERT_TRUE(made.ok()) << made.status().text();
    ride.agent = std::move(*made);
    ride.updates.resize(ride.agent->updates_taken());
    ride.offered = nullptr;
    ride.peer = ++peers_;
    agent_of_peer_[ride.peer] = i;
    act_agent(i, Tick{});
  }
  // A second connection of the same process.
  void reconnect_agent(std::uint32_t i) {
    Ride& ride = rides_[i];
    ride.peer = ++peers_;
    agent_of_peer_[ride.peer] = i;
    act_agent(i, PeerDisconnected{});
  }
  void set_cut(std::uint32_t i, bool cut) { rides_[i].cut = cut; }
  void set_train_ns(std::uint32_t i, TimeNs ns) { rides_[i].train_ns = ns; }
  void set_loss(double loss, double repeat) {
    options_.loss = loss;
    options_.repeat = repeat;
  }
  void fail_coordinator_store(int times) { coordinator_store_failures_ = times; }
  void fail_agent_store(std::uint32_t i, int times) { rides_[i].store_failures = times; }
  void at(TimeNs when, std::function<void()> what) { push(when, std::move(what)); }
  PeerNetwork peers{{.now = [this] { return now_; },
                     .push = [this](TimeNs at, auto what) { push(at, std::move(what)); },
                     .act = [this](auto agent, const Event& event) { act_agent(agent, event); },
                     .draw = [this] { return draw(); }}};
  // Changes what an agent is given as its update.
  std::function<void(std::uint32_t, FloatVector&)> twist;

  void command(const Event& event) { act_coordinator(event); }
  void agent_event(std::uint32_t i, const Event& event) { act_agent(i, event); }
  std::optional<Status> command_done(Token token) const {
    const auto found = done_.find(token);
    return found == done_.end() ? std::nullopt : std::optional<Status>(found->second);
  }
  // Payload bytes that were on their way to the coordinator, or in parts there, at most.
  std::uint64_t incoming_bytes_peak() const { return incoming_bytes_peak_; }
  bool agent_finished(std::uint32_t i) const { return rides_[i].finished; }
  void to_coordinator(std::uint32_t i, Bytes frame, Bytes payload = {}) {
    act_coordinator(FrameReceived{
        .peer = rides_[i].peer, .frame = frame, .payload = payload, .authenticated_as = {}});
  }

  // Plays until the condition holds; false if it does not within the time.
  bool run(const std::function<bool()>& until, TimeNs for_ns = 600'000 * kNsPerMs) {
    const TimeNs end = now_ + for_ns;
    while (!until()) {
      if (events_.empty() || events_.top().at > end) return false;
      Happening next = events_.top();
      events_.pop();
      now_ = std::max(now_, next.at);
      next.what();
      check_bounds();
    }
    return true;
  }
  bool run_rounds(std::uint64_t rounds) {
    return run([&] { return coordinator_ && coordinator_->model_version() >= rounds; });
  }
  // All rounds done, and everybody alive has applied and stored them.
  bool run_to_the_end() {
    return run([&] {
      if (!coordinator_ || coordinator_->model_version() < options_.rounds) return false;
      for (const Ride& ride : rides_) {
        if (!ride.agent) continue;
        if (ride.agent->model_version() != options_.rounds || !ride.agent->undecided().empty()) {
          return false;
        }
        if (ride.training || !ride.agent->idle()) return false;
      }
      return true;
    });
  }

  // Where everybody stands, for a test that does not get to its end.
  std::string describe() const {
    std::string text = "at " + std::to_string(now_ / kNsPerMs) + " ms: coordinator ";
    text += coordinator_ ? std::to_string(coordinator_->model_version()) : "down";
    for (const Ride& ride : rides_) {
      text += "; agent ";
      if (!ride.agent) {
        text += "down";
        continue;
      }
      text += std::to_string(ride.agent->model_version());
      if (!ride.agent->connected()) text += " offline";
      if (!ride.agent->undecided().empty()) text += " undecided";
      if (ride.training) text += " training";
      if (!ride.agent->idle()) text += " busy";
    }
    return text;
  }

  // --- what must hold ---
  void expect_identical() {
    for (std::uint32_t i = 0; i < rides_.size(); ++i) {
      if (!rides_[i].agent) continue;
      ASSERT_NE(agent(i).model(), nullptr);
      EXPECT_EQ(*agent(i).model(), *coordinator_->model()) << "agent " << i;
      EXPECT_EQ(agent(i).model_hash(), coordinator_->model_hash());
    }
  }

  // The sum of all updates is what was committed plus what is held back.
  void expect_conserved(double tolerance = 0) {
    std::vector<double> balance(values(), 0.0);
    std::vector<double> magnitude(values(), 0.0);
    for (Ride& ride : rides_) {
      ASSERT_EQ(ride.updates.size(), ride.agent->updates_taken());
      for (const SharedFloats& update : ride.updates) {
        for (std::size_t i = 0; i < values(); ++i) {
          balance[i] += static_cast<double>((*update)[i]);
          magnitude[i] += std::abs(static_cast<double>((*update)[i]));
        }
      }
      ASSERT_TRUE(ride.agent->undecided().empty());
      if (const SharedFloats held = ride.agent->residual()) subtract(balance, 0, *held);
    }
    if (const SharedFloats held = coordinator_->aggregator_residual()) subtract(balance, 0, *held);
    for (const CommitRecord& commit : journal_.commits()) subtract_commit(balance, commit);
    for (std::size_t i = 0; i < values(); ++i) {
      ASSERT_LE(std::abs(balance[i]), tolerance * magnitude[i]) << "value " << i;
    }
  }
  std::size_t updates_taken(std::uint32_t i) const { return rides_[i].updates.size(); }
  // Of the last frame that the agent sent.
  std::uint64_t session(std::uint32_t i) const { return rides_[i].session; }

 private:
  struct Ride {
    std::unique_ptr<Agent> agent;
    AgentJournal journal;
    std::uint32_t life = 0;
    PeerId peer = 0;
    bool cut = false;
    bool training = false;
    bool finished = false;
    TimeNs train_ns = -1;
    int store_failures = 0;
    TimeNs tick_at = kNever;
    std::uint64_t session = 0;
    std::vector<SharedFloats> updates;  // those that count, in order
    SharedFloats offered;               // the agent may still take it
    std::uint64_t given = 0;
    TimeNs up_free_at = 0;  // when the link has sent what it was given
    TimeNs down_free_at = 0;
  };
  struct Happening {
    TimeNs at = 0;
    std::uint64_t order = 0;
    std::function<void()> what;
    bool operator<(const Happening& other) const {
      return std::pair(other.at, other.order) < std::pair(at, order);
    }
  };

  void push(TimeNs at, std::function<void()> what) {
    events_.push({.at = at, .order = ++order_, .what = std::move(what)});
  }
  double draw() {
    const StreamKey key =
        stream_key({.job_seed = options_.seed, .round = ++drawn_, .purpose = DrawPurpose::jitter});
    return static_cast<double>(uniform_01(random_bits(key, 0)));
  }

  // Until the link has sent a frame, behind those before it.
  TimeNs sending_ns(std::uint32_t i, bool up, std::size_t bytes) {
    const double rate = options_.bytes_per_s_of ? options_.bytes_per_s_of(i, up) : 0;
    if (rate <= 0) return 0;
    TimeNs& free_at = up ? rides_[i].up_free_at : rides_[i].down_free_at;
    free_at =
        std::max(free_at, now_) + static_cast<TimeNs>(static_cast<double>(bytes) / rate * 1e9);
    return free_at - now_;
  }

  // A frame on its way, lost, late or twice.
  void travel(TimeNs sending_ns, const std::function<void()>& arrive) {
    if (draw() < options_.loss) return;
    const int copies = draw() < options_.repeat ? 2 : 1;
    for (int copy = 0; copy < copies; ++copy) {
      const auto spread = static_cast<double>(options_.delay_max_ns - options_.delay_min_ns);
      push(now_ + sending_ns + options_.delay_min_ns + static_cast<TimeNs>(spread * draw()),
           arrive);
    }
  }

  void submit() {
    SubmitJob submit{.command = 1, .definition = {}, .policy = options_.policy, .model = nullptr};
    wire::JobT& job = submit.definition;
    job.name = "test";
    job.seed = 42;
    job.mode = wire::ExchangeMode::delta;
    job.rounds = options_.rounds;
    job.weighting = wire::Weighting::equal;
    job.model = std::make_unique<wire::ModelT>();
    job.model->kind = wire::ModelKind::built_in;
    job.model->name = "none";
    job.optimizer = std::make_unique<wire::OptimizerT>();
    job.optimizer->kind = wire::OptimizerKind::sgd;
    job.layer_map = std::make_unique<wire::LayerMapT>();
    job.layer_map->hash = map_->hash();
    for (const Layer& layer : map_->layers()) {
      auto one = std::make_unique<wire::LayerT>();
      one->name = layer.name;
      one->values = layer.count;
      one->shape = layer.shape;
      one->kind = wire::LayerKind::parameter;
      job.layer_map->layers.push_back(std::move(one));
    }
    if (options_.change_job) options_.change_job(job);
    submit.model = std::make_shared<const FloatVector>(values(), 0.5f);
    act_coordinator(submit);
  }

  void act_coordinator(const Event& event) {
    if (!coordinator_) return;
    for (Action& action : coordinator_->handle(now_, event)) carry_out_coordinator(action);
    tick_coordinator();
  }
  void tick_coordinator() {
    const TimeNs due = coordinator_->next_wakeup_ns();
    if (due == kNever || due >= coordinator_tick_at_) return;
    coordinator_tick_at_ = std::max(due, now_ + 1);
    push(coordinator_tick_at_, [this] {
      coordinator_tick_at_ = kNever;
      act_coordinator(Tick{});
    });
  }
  void act_agent(std::uint32_t i, const Event& event) {
    Ride& ride = rides_[i];
    if (!ride.agent) return;
    if (options_.before_event) options_.before_event(i, event);
    Actions actions = ride.agent->handle(now_, event);
    if (options_.after_event) options_.after_event(i, actions, *ride.agent);
    // Before its actions: acting on them may already end the round.
    if (ride.agent->updates_taken() > ride.updates.size() && ride.offered) {
      ride.updates.push_back(std::exchange(ride.offered, nullptr));
    }
    for (Action& action : actions) carry_out_agent(i, action);
    const TimeNs due = ride.agent->next_wakeup_ns();
    if (due == kNever || due >= ride.tick_at) return;
    ride.tick_at = std::max(due, now_ + 1);
    push(ride.tick_at, [this, i] {
      rides_[i].tick_at = kNever;
      act_agent(i, Tick{});
    });
  }

  void carry_out_coordinator(Action& action) {
    if (auto* send = std::get_if<Send>(&action)) {
      const auto peer = agent_of_peer_.find(send->peer);
      if (peer == agent_of_peer_.end()) return;
      const std::uint32_t i = peer->second;
      if (rides_[i].cut) return;
      trace("to agent " + std::to_string(i), send->frame);
      auto frame = std::make_shared<Bytes>(std::move(send->frame));
      auto payload =
          std::make_shared<Bytes>(send->payload.bytes.begin(), send->payload.bytes.end());
      const TimeNs takes = sending_ns(i, false, frame->size() + payload->size());
      travel(takes, [this, i, to = send->peer, frame, payload] {
        if (rides_[i].peer != to) return;
        act_agent(i, FrameReceived{
                         .peer = 0, .frame = *frame, .payload = *payload, .authenticated_as = {}});
      });
    } else if (auto* store = std::get_if<StoreCoordinator>(&action)) {
      push(now_ + options_.store_ns, [this, life = coordinator_life_, token = store->token,
                                      record = std::move(store->record)] {
        if (life != coordinator_life_) return;
        if (coordinator_store_failures_ > 0) {
          --coordinator_store_failures_;
          return act_coordinator(Stored{.token = token, .status = disk_full()});
        }
        journal_.apply(record);
        act_coordinator(Stored{.token = token, .status = {}});
      });
    } else if (auto* load = std::get_if<LoadRound>(&action)) {
      RoundLoaded loaded{.token = load->token, .round = journal_.round(load->round), .epoch = {}};
      if (loaded.round) loaded.epoch = journal_.epoch(loaded.round->id.epoch);
      push(now_ + options_.store_ns, [this, loaded] { act_coordinator(loaded); });
    } else if (auto* note = std::get_if<Note>(&action)) {
      count(*note);
    } else if (auto* report = std::get_if<AgentReported>(&action)) {
      reported.push_back(std::move(*report));
    } else if (auto* round = std::get_if<RoundPlayed>(&action)) {
      advise(*round);
    } else if (auto* reading = std::get_if<Reading>(&action)) {
      readings.push_back(std::move(*reading));
    } else if (auto* done = std::get_if<CommandDone>(&action)) {
      done_[done->command] = done->status;
    }
  }

  void carry_out_agent(std::uint32_t i, Action& action) {
    Ride& ride = rides_[i];
    const std::uint32_t life = ride.life;
    if (auto* send = std::get_if<Send>(&action)) {
      const Result<const wire::Frame*> sent = open_frame(send->frame);
      if (sent.ok()) ride.session = (*sent)->session();
      if (ride.cut) return;
      trace("from agent " + std::to_string(i), send->frame);
      auto frame = std::make_shared<Bytes>(std::move(send->frame));
      auto payload =
          std::make_shared<Bytes>(send->payload.bytes.begin(), send->payload.bytes.end());
      under_way_bytes_ += payload->size();
      const auto arrived = std::shared_ptr<void>(
          nullptr, [this, bytes = payload->size()](void*) { under_way_bytes_ -= bytes; });
      note_incoming();
      const TimeNs takes = sending_ns(i, true, frame->size() + payload->size());
      travel(takes, [this, from = ride.peer, frame, payload, arrived] {
        act_coordinator(FrameReceived{
            .peer = from, .frame = *frame, .payload = *payload, .authenticated_as = {}});
      });
    } else if (auto* store = std::get_if<StoreAgent>(&action)) {
      push(now_ + options_.store_ns,
           [this, i, life, token = store->token, record = std::move(store->record)] {
             Ride& at = rides_[i];
             if (life != at.life) return;
             if (at.store_failures > 0) {
               --at.store_failures;
               return act_agent(i, Stored{.token = token, .status = disk_full()});
             }
             at.journal.apply(record);
             act_agent(i, Stored{.token = token, .status = {}});
           });
    } else if (auto* train = std::get_if<Train>(&action)) {
      ride.training = true;
      const TimeNs takes = ride.train_ns >= 0 ? ride.train_ns : options_.train_ns;
      push(now_ + takes, [this, i, life, token = train->token, round = train->id.round] {
        if (life == rides_[i].life) give_update(i, token, round);
      });
    } else if (auto* to_peer = std::get_if<SendToPeer>(&action)) {
      peers.send(i, *to_peer);
    } else if (const auto* open = std::get_if<OpenPeers>(&action)) {
      peers.open(i, *open);
    } else if (std::holds_alternative<ClosePeers>(action)) {
      peers.gone(i);
    } else if (auto* note = std::get_if<Note>(&action)) {
      count(*note);
    } else if (auto* reading = std::get_if<Reading>(&action)) {
      agent_readings.push_back(std::move(*reading));
    } else if (std::holds_alternative<Finished>(action)) {
      ride.finished = true;
    }
  }

  // It has thought a while.
  void advise(RoundPlayed& round) {
    const auto advice = options_.advise ? options_.advise(round) : nullptr;
    if (advice) {
      push(now_ + options_.train_ns, [this, job = round.job, advice] {
        act_coordinator(PlanAdvised{.job = job, .advice = advice});
      });
    }
    played.push_back(std::move(round));
  }

  // Multiples of 1/64: sums of them are exact.
  void give_update(std::uint32_t i, Token token, std::uint64_t round) {
    Ride& ride = rides_[i];
    ride.training = false;
    const StreamKey key = stream_key({.job_seed = options_.seed,
                                      .round = ++ride.given,
                                      .purpose = DrawPurpose::synthetic_data,
                                      .agent = i});
    auto update = std::make_shared<FloatVector>(values());
    for (std::size_t v = 0; v < update->size(); ++v) {
      const auto number = static_cast<int>(random_bits(key, static_cast<std::uint32_t>(v)) % 257);
      (*update)[v] = static_cast<float>(number - 128) / 64.0f;
    }
    if (twist) twist(i, *update);
    give_tail(i, token, round, update, options_.in_parts ? 6 : 0);
  }
  // Everything from so many eighths on, and later the rest.
  void give_tail(std::uint32_t i, Token token, std::uint64_t round,
                 const std::shared_ptr<FloatVector>& update, std::uint32_t eighths) {
    Ride& ride = rides_[i];
    const std::uint64_t first = values() * eighths / 8;
    const std::uint64_t missing = ride.agent->missing_of_update(round);
    auto taken = std::make_shared<FloatVector>(values(), 0.0f);
    for (std::uint64_t v = first; v < missing; ++v) (*taken)[v] = (*update)[v];
    ride.offered = std::move(taken);
    if (eighths > 0) {
      push(now_ + kNsPerMs, [this, i, life = ride.life, token, round, update, eighths] {
        if (life == rides_[i].life) give_tail(i, token, round, update, eighths - 3);
      });
      return act_agent(i, UpdatePart{.token = token, .first_value = first, .update = update});
    }
    act_agent(i, UpdateReady{.token = token,
                             .update = update,
                             .loss = 1,
                             .examples = options_.examples_of ? options_.examples_of(i) : 10,
                             .local_steps = 1,
                             .compute_s = 0.005});
  }

  void subtract(std::vector<double>& balance, std::uint64_t first,
                std::span<const float> values) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      balance[first + i] -= static_cast<double>(values[i]);
    }
  }

  void subtract_commit(std::vector<double>& balance, const CommitRecord& commit) {
    const Result<const wire::Frame*> frame = open_frame(*commit.round.plan);
    ASSERT_TRUE(frame.ok()) << frame.status().text();
    wire::PlanT wire;
    (*frame)->message_as_Plan()->UnPackTo(&wire);
    const Result<std::shared_ptr<const JobModel>> job =
        JobModel::make(journal_.state().jobs[0].job.definition);
    const auto plan = RoundPlan::make(wire, **job, cache_);
    ASSERT_TRUE(plan.ok());
    for (const OutcomeRecord& outcome : commit.round.outcomes) {
      CommittedBucket bucket{
          .bucket = outcome.bucket, .divisor = 1, .contributors = 1, .combined = {}};
      bucket.contributors = commit.round.contributor_sets[outcome.contributor_set].contributors;
      for (const RedoPayload& redo : commit.redo) {
        if (redo.bucket == outcome.bucket) bucket.combined.emplace_back(*redo.payload);
      }
      FloatVector sum;
      ASSERT_TRUE(decode_bucket(**plan, bucket, {}, sum).ok());
      subtract(balance, (*plan)->buckets()[outcome.bucket].first_value, sum);
    }
  }

  static Status disk_full() {
    return Status(
        StatusCode::io_error,
        {.what = "journal", .expected = "room on the disk", .got = "none", .remedy = "free some"});
  }

  void trace(const std::string& way, const Bytes& bytes) const {
    if (std::getenv("ROUND_TRACE") == nullptr) return;
    const Result<const wire::Frame*> frame = open_frame(bytes);
    if (!frame.ok()) return;
    std::printf("%9.3f ms %s %s\n", static_cast<double>(now_) / 1e6, way.c_str(),
                wire::EnumNameMessage((*frame)->message_type()));
  }

  void count(const Note& note) {
    ++notes_[std::string(note.name)];
    note_texts_[std::string(note.name)] = note.text;
    ++notes_[std::string(note.name) + ":" + std::string(note.reason)];
    if (std::getenv("ROUND_TRACE") != nullptr) {
      std::printf("%9.3f ms %s %s [%s] %s\n", static_cast<double>(now_) / 1e6,
                  std::string(note.name).c_str(), std::string(note.reason).c_str(),
                  note.source.c_str(), note.text.c_str());
    }
  }

  void note_incoming() {
    incoming_bytes_peak_ = std::max(
        incoming_bytes_peak_,
        under_way_bytes_ + (coordinator_ ? coordinator_->incoming_bytes() : std::uint64_t{0}));
  }
  void check_bounds() {
    note_incoming();
    if (coordinator_) {
      EXPECT_LT(coordinator_->buffered_bytes(), 64u << 20);
    }
  }

  Options options_;
  std::shared_ptr<LayerMap> map_;
  TimeNs stopwatch_ = 0;  // goes on whenever somebody looks
  TimeNs now_ = 0;
  std::uint64_t under_way_bytes_ = 0;  // of payloads, to the coordinator
  std::uint64_t incoming_bytes_peak_ = 0;
  std::priority_queue<Happening> events_;
  std::uint64_t order_ = 0;
  std::uint64_t drawn_ = 0;

  CoordinatorJournal journal_;
  std::unique_ptr<Coordinator> coordinator_;
  std::uint32_t coordinator_life_ = 1;
  TimeNs coordinator_tick_at_ = kNever;
  int coordinator_store_failures_ = 0;
  std::map<Token, Status> done_;

  std::vector<Ride> rides_;
  PeerId peers_ = 0;
  std::map<PeerId, std::uint32_t> agent_of_peer_;
  std::map<std::string, int> notes_;
  std::map<std::string, std::string> note_texts_;
  CodecCache cache_;
};

}  // namespace tributary::round_testing
