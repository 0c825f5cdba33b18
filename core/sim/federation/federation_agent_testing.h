// An agent of a test's federation: the simulator's host with a journal in memory and a trainer that
// returns the test's updates after a given time. The test observes its events and actions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "core/round/common/session/conversation.h"
#include "core/sim/federation/federation_context_testing.h"
#include "core/sim/federation/memory_journals_testing.h"
#include "core/sim/machines/agent_host.h"

namespace tributary::sim_testing {

class FederationAgent final : public AgentHost {
 public:
  FederationAgent(SimulationContext& sim, SimulatedNetwork& network, PeerNetwork& peers,
                  std::uint32_t index, FederationContext& context)
      : AgentHost(sim, network, peers, index), context_(context) {}

  MemoryAgentJournal journal;

  // The process ends and stays down until start().
  void crash() {
    stop_restarting();
    kill({});
  }
  // The next `times` writes find the disk full.
  void fail_stores(int times) { store_failures_ = times; }
  // Time of a training from now on, instead of the one in the options.
  void set_train_ns(TimeNs ns) { train_ns_ = ns; }

  bool training() const { return training_; }

  // The machine has left its job.
  bool finished() const { return finished_; }
  // The coordinator's number for its connection.
  PeerId peer() const { return network_.peer(index_); }
  // Session of the last frame that it sent.
  std::uint64_t session() const { return session_; }
  // The updates that its machine has taken, in order, and those that dropping values was. Only
  // these count.
  const std::vector<SharedFloats>& updates() const { return updates_; }

 private:
  // The timeouts are short, so that a test of lost messages takes few virtual seconds.
  Status boot() override {
    const Options& options = context_.options;
    AgentConfig config;
    config.agent_id = host_name();
    config.incarnation = draws_.bits() | 1;
    config.execution = options.execution;
    if (options.device_of) config.execution.device = options.device_of(index_);
    config.encodes_in_background = config.execution.device != nullptr;
    config.train_ahead = options.train_ahead;
    config.checkpoint_rounds = options.policy.checkpoint_rounds;
    config.hello_timeout_ms = 50;
    config.hello_timeout_max_ms = 400;
    config.stopwatch = [this] { return context_.stopwatch_ns += context_.options.look_ns; };
    if (options.peers) config.endpoints = {PeerNetwork::endpoint(index_)};
    if (options.endpoint_of) config.endpoints = {options.endpoint_of(index_)};
    TRIBUTARY_TRY(run_machine(std::move(config), journal.state));
    const std::size_t stored = std::min<std::size_t>(updates_.size(), machine().updates_taken());
    const auto undone = updates_.begin() + static_cast<std::ptrdiff_t>(stored);
    if (undone != updates_.end()) undone_.assign(undone, updates_.end());
    updates_.resize(machine().updates_taken());
    offered_ = nullptr;
    training_ = false;
    return {};
  }

  Actions feed(TimeNs local_ns, const Event& event) override {
    const Options& options = context_.options;
    if (options.before_event) options.before_event(index_, event);
    Actions actions = AgentHost::feed(local_ns, event);
    if (options.after_event) options.after_event(index_, actions, machine());
    std::vector<SharedFloats> dropped;
    for (const Action& action : actions) {
      if (const auto* one = std::get_if<ResidualDropped>(&action)) dropped.push_back(one->change);
    }
    // The machine has taken the offered update completely.
    if (machine().updates_taken() > updates_.size() + dropped.size() && offered_) {
      updates_.push_back(std::exchange(offered_, nullptr));
      undone_.clear();
    }
    // A contribution of the process before counts. It contains what the end of that process undid.
    const std::size_t known = updates_.size() + dropped.size();
    if (machine().updates_taken() > known && !undone_.empty()) {
      back_ = std::min<std::size_t>(machine().updates_taken() - known, undone_.size());
      updates_.insert(updates_.end(), undone_.begin(),
                      undone_.begin() + static_cast<std::ptrdiff_t>(back_));
      undone_.clear();
    }
    updates_.insert(updates_.end(), dropped.begin(), dropped.end());
    return actions;
  }

  // The account knows in which buckets such a contribution counts. The rest of its update is lost.
  void look() override {
    AgentHost::look();
    const std::deque<SharedFloats>& recent = account().recent();
    if (back_ == 0 || account().taken() != updates_.size() || recent.size() < back_) return;
    std::copy_n(recent.rbegin(), back_, updates_.rbegin());
    back_ = 0;
  }

  void perform(Action& action) override {
    if (auto* const record = std::get_if<StoreAgent>(&action)) return keep(*record);
    if (const auto* const order = std::get_if<Train>(&action)) return train(*order);
    if (auto* const reading = std::get_if<Reading>(&action)) {
      return context_.log.agent_readings.push_back(std::move(*reading));
    }
    if (std::holds_alternative<Finished>(action)) {
      finished_ = true;
      return;
    }
    if (const auto* const note = std::get_if<Note>(&action)) context_.log.note(sim_.now(), *note);
    if (auto* const to_peer = std::get_if<SendToPeer>(&action)) {
      context_.peers.sending(index_, *to_peer);
    }
    if (const auto* const sent = std::get_if<Send>(&action)) {
      const Result<const wire::Frame*> frame = open_frame(sent->frame);
      if (frame.ok()) session_ = (*frame)->session();
      context_.log.sent(sim_.now(), host_name(), sent->frame);
    }
    AgentHost::perform(action);
  }

  // A process that ends before the disk is done has not stored the record.
  void keep(StoreAgent& store) {
    later(context_.options.store_ns, [this, token = store.token, record = std::move(store.record)] {
      if (store_failures_ > 0) {
        --store_failures_;
        return handle(Stored{.token = token, .status = disk_full()});
      }
      journal.apply(record);
      sim_.ledger.agent_stored(index_, record);
      handle(Stored{.token = token, .status = {}});
    });
  }

  void train(const Train& order) {
    training_ = true;
    later(train_ns_ >= 0 ? train_ns_ : context_.options.train_ns,
          [this, token = order.token, round = order.id.round] { give_update(token, round); });
  }

  // The update depends on the number of trainings and not on the round, because an aborted round
  // trains again.
  void give_update(Token token, std::uint64_t round) {
    training_ = false;
    const auto update = dyadic_update(sim_.seed, index_, ++given_, context_.map.values());
    if (context_.twist) context_.twist(index_, *update);
    give_rest(token, round, update, context_.options.in_parts ? 6 : 0);
  }

  // Passes the values from `eighths` eighths of the update on at once, and those before them a
  // millisecond later.
  void give_rest(Token token, std::uint64_t round, const std::shared_ptr<FloatVector>& update,
                 std::uint32_t eighths) {
    const std::uint64_t first = update->size() * eighths / 8;
    offered_ = offer(*update, first, round);
    if (eighths > 0) {
      later(kNsPerMs, [this, token, round, update, eighths] {
        give_rest(token, round, update, eighths - 3);
      });
      return handle(UpdatePart{.token = token, .first_value = first, .update = update});
    }
    const Options& options = context_.options;
    handle(UpdateReady{.token = token,
                       .update = update,
                       .loss = 1,
                       .examples = options.examples_of ? options.examples_of(index_) : 10,
                       .compute_s = 0.005});
  }

  FederationContext& context_;
  bool training_ = false;
  bool finished_ = false;
  TimeNs train_ns_ = -1;  // below 0: as in the options
  int store_failures_ = 0;
  std::uint64_t session_ = 0;
  std::uint64_t given_ = 0;  // number of updates
  std::vector<SharedFloats> updates_;
  std::vector<SharedFloats> undone_;  // by the last end of the process; may still count
  std::size_t back_ = 0;              // number of updates at the end of updates_ that came back
  SharedFloats offered_;              // the machine may still take it
};

}  // namespace tributary::sim_testing
