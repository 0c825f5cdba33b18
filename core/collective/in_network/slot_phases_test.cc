// Explores every order of events of one slot: the network may lose, repeat and reorder any packet.
// Sums are kept as lists of who contributed what, so that a wrong sum is visible.
#include "core/collective/in_network/slot_phases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tributary::in_network {
namespace {

constexpr std::uint32_t kExploredAgents = 3;
constexpr std::uint32_t kExploredEpochs = 2;

struct Bounds {
  std::uint32_t agents;
  std::uint32_t phases;
  std::uint32_t epochs;
  std::uint32_t restarts;
};

// The (epoch, phase) of each agent's addend, as 1 + epoch * 16 + phase; 0: it has not contributed.
using Addends = std::array<std::uint8_t, kExploredAgents>;

struct State {
  struct Agent {
    SlotTurn turn = {};
    bool ended = false;                                   // by a refusal or the deadline
    std::array<std::uint8_t, kExploredEpochs> sent = {};  // phases contributed to, by epoch
  };
  std::array<Agent, kExploredAgents> agents = {};
  SlotPhases slot = {};
  Addends current = {};
  Addends previous = {};
  bool installed = true;
  std::uint8_t epoch = 0;  // installed, or the last that was
  std::uint8_t restarts = 0;
  // Results that the network may deliver at any time, as bits by epoch and phase.
  std::array<std::uint16_t, kExploredEpochs> results = {};
  // Refusals on their way to an agent, by epoch.
  std::array<std::array<bool, kExploredEpochs>, kExploredAgents> refusals = {};
};

// A state as numbers. No rule prefers an agent, so states that differ only in the order of their
// agents are one state: those of the agents are sorted.
struct Key {
  std::array<std::uint32_t, kExploredAgents> agents = {};
  std::uint64_t slot = 0;
  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = key.slot;
    for (const std::uint32_t agent : key.agents) {
      hash = (hash ^ agent) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

class Explorer {
 public:
  explicit Explorer(const Bounds& bounds) : bounds_(bounds) {}

  void run() {
    State start;
    for (std::uint32_t a = 0; a < bounds_.agents; ++a) start.agents[a].turn.enter(0);
    visit(start);
    for (; !open_.empty() && wrong.empty(); ++from_) {
      const State next = open_.front();
      open_.pop_front();
      expand(next);
    }
    find_stuck();
  }

  std::string wrong;  // the first wrong sum
  std::size_t states() const { return ends_.size(); }
  std::size_t stuck = 0;     // states from which no end can be reached
  std::size_t finished = 0;  // states in which all agents have all results of the last epoch

 private:
  static Key key_of(const State& s) {
    Key key;
    for (std::size_t a = 0; a < kExploredAgents; ++a) {
      std::uint32_t& word = key.agents[a];
      const auto put = [&word](std::uint32_t value, int bits) { word = word << bits | value; };
      const State::Agent& agent = s.agents[a];
      put(agent.turn.epoch(), 1);
      put(agent.turn.sequence(), 3);
      put(agent.turn.waiting(), 1);
      put(agent.ended, 1);
      for (const std::uint8_t sent : agent.sent) put(sent, 3);
      put(s.current[a] / 16u, 1);
      put(s.current[a] % 16u, 3);
      put(s.previous[a] / 16u, 1);
      put(s.previous[a] % 16u, 3);
      put(s.slot.contributors() >> a & 1, 1);
      for (const bool refusal : s.refusals[a]) put(refusal, 1);
    }
    std::ranges::sort(key.agents);
    const auto put = [&key](std::uint64_t value, int bits) { key.slot = key.slot << bits | value; };
    // The phases themselves, asked for every answer that they can give.
    for (std::uint32_t e = 0; e < kExploredEpochs; ++e) {
      for (std::uint32_t k = 0; k < 5; ++k) {
        put(static_cast<std::uint64_t>(s.slot.decide(e, k).step), 3);
      }
    }
    put(s.installed, 1);
    put(s.epoch, 1);
    put(s.restarts, 1);
    for (const std::uint16_t results : s.results) put(results, 4);
    return key;
  }

  std::uint32_t visit(const State& state) {
    const auto number = static_cast<std::uint32_t>(ends_.size());
    const auto [at, is_new] = number_.try_emplace(key_of(state), number);
    if (!is_new) return at->second;
    open_.push_back(state);
    ends_.push_back(is_end(state));
    return number;
  }
  void go(const State& state) { steps_.emplace_back(from_, visit(state)); }

  // Without a restart every agent must be able to finish. With one, a refusal is an end, too.
  bool is_end(const State& s) {
    bool end = true;
    bool refused = false;
    for (std::uint32_t a = 0; a < bounds_.agents; ++a) {
      end &= done(s.agents[a]) || s.agents[a].ended;
      refused |= s.agents[a].ended;
    }
    if (end && !refused) ++finished;
    return end && (!refused || bounds_.restarts > 0);
  }

  bool done(const State::Agent& agent) const {
    return agent.turn.epoch() + 1 == bounds_.epochs && agent.turn.sequence() == bounds_.phases;
  }

  void expand(const State& s) {
    for (std::uint32_t a = 0; a < bounds_.agents; ++a) {
      contribute(s, a);
      for (std::uint32_t e = 0; e < bounds_.epochs; ++e) {
        for (std::uint32_t k = 0; k < s.agents[a].sent[e]; ++k) deliver(s, a, e, k);
        for (std::uint32_t k = 0; k < bounds_.phases; ++k) {
          if ((s.results[e] >> k & 1) != 0) take_result(s, a, e, k);
        }
        take_refusal(s, a, e);
      }
      give_up(s, a);
    }
    install(s);
    if (s.restarts < bounds_.restarts) {
      State n = s;
      ++n.restarts;
      n.installed = false;
      n.slot.clear();
      n.current = n.previous = {};
      go(n);
    }
  }

  void contribute(const State& s, std::uint32_t a) {
    const State::Agent& agent = s.agents[a];
    if (agent.ended || agent.turn.waiting() || agent.turn.sequence() == bounds_.phases) return;
    State n = s;
    n.agents[a].turn.contribute();
    n.agents[a].sent[agent.turn.epoch()] = static_cast<std::uint8_t>(agent.turn.sequence() + 1);
    go(n);
  }

  // A contribution arrives, for the first time or again.
  void deliver(const State& s, std::uint32_t a, std::uint32_t e, std::uint32_t k) {
    const DropReason epoch = check_epoch(s.installed, s.epoch, e);
    if (epoch != DropReason::none) {
      if (is_refused(epoch)) refuse(s, a, e);
      return;
    }
    const auto addend = static_cast<std::uint8_t>(1 + e * 16 + k);
    const SlotPhases::Decision decision = s.slot.decide(e, k, a);
    State n = s;
    switch (decision.step) {
      case SlotStep::drop:
        if (is_refused(decision.reason)) refuse(s, a, e);
        return;
      case SlotStep::nothing:
        return;
      case SlotStep::resend_current:
        send_result(n, s.current, e, k);
        break;
      case SlotStep::resend_previous:
        send_result(n, s.previous, e, k);
        break;
      case SlotStep::start:
        n.previous = n.current;
        n.current = {};
        n.current[a] = addend;
        n.slot.start(e, k, a, bounds_.agents);
        break;
      case SlotStep::add:
        n.current[a] = addend;
        n.slot.add(a);
        break;
    }
    const bool added = decision.step == SlotStep::start || decision.step == SlotStep::add;
    if (added && n.slot.complete()) send_result(n, n.current, e, k);
    go(n);
  }

  void send_result(State& n, const Addends& sums, std::uint32_t e, std::uint32_t k) {
    for (std::uint32_t a = 0; a < bounds_.agents; ++a) {
      if (sums[a] == 1 + e * 16 + k || !wrong.empty()) continue;
      wrong = "epoch " + std::to_string(e) + ", phase " + std::to_string(k) + ": agent " +
              std::to_string(a) + " has " + std::to_string(sums[a]);
    }
    n.results[e] = static_cast<std::uint16_t>(n.results[e] | 1u << k);
  }

  void take_result(const State& s, std::uint32_t a, std::uint32_t e, std::uint32_t k) {
    if (s.agents[a].ended || !s.agents[a].turn.accepts(e, k)) return;
    State n = s;
    n.agents[a].turn.move_on();
    go(n);
  }

  void refuse(const State& s, std::uint32_t a, std::uint32_t e) {
    State n = s;
    n.refusals[a][e] = true;
    go(n);
  }
  void take_refusal(const State& s, std::uint32_t a, std::uint32_t e) {
    const State::Agent& agent = s.agents[a];
    if (!s.refusals[a][e] || agent.ended || !agent.turn.waiting() || agent.turn.epoch() != e) {
      return;
    }
    leave(s, a);
  }
  // The deadline: an agent may leave an epoch at any time if there is another one. In the last
  // epoch it passes only for agents that wait for one that was refused.
  void give_up(const State& s, std::uint32_t a) {
    bool others_ended = false;
    for (const State::Agent& other : s.agents) others_ended |= other.ended;
    const bool waits = others_ended && s.agents[a].turn.waiting() && !s.agents[a].ended;
    if (waits || s.agents[a].turn.epoch() + 1 < bounds_.epochs) leave(s, a);
  }
  void leave(const State& s, std::uint32_t a) {
    State n = s;
    const std::uint32_t next = s.agents[a].turn.epoch() + 1;
    if (next < bounds_.epochs) {
      n.agents[a].turn.enter(next);
    } else {
      n.agents[a].ended = true;
    }
    go(n);
  }

  // The coordinator installs the next epoch once an agent has left the one before.
  void install(const State& s) {
    if (s.epoch + 1u >= bounds_.epochs) return;
    bool left = false;
    for (std::uint32_t a = 0; a < bounds_.agents; ++a) {
      left |= s.agents[a].turn.epoch() > s.epoch;
    }
    if (!left) return;
    State n = s;
    ++n.epoch;
    n.installed = true;
    go(n);
  }

  void find_stuck() {
    // The steps to state s are those from begin[s] to begin[s + 1].
    std::vector<std::uint32_t> begin(ends_.size() + 1);
    for (const auto& [from, to] : steps_) ++begin[to + 1];
    for (std::size_t s = 1; s < begin.size(); ++s) begin[s] += begin[s - 1];
    std::vector<std::uint32_t> before(steps_.size());
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (const auto& [from, to] : steps_) before[next[to]++] = from;
    std::vector<std::uint32_t> reached;
    for (std::uint32_t s = 0; s < ends_.size(); ++s) {
      if (ends_[s]) reached.push_back(s);
    }
    while (!reached.empty()) {
      const std::uint32_t s = reached.back();
      reached.pop_back();
      for (std::uint32_t i = begin[s]; i < begin[s + 1]; ++i) {
        if (ends_[before[i]]) continue;
        ends_[before[i]] = true;
        reached.push_back(before[i]);
      }
    }
    stuck = static_cast<std::size_t>(std::ranges::count(ends_, false));
  }

  const Bounds bounds_;
  std::deque<State> open_;  // in the order of their numbers, from `from_` on
  std::uint32_t from_ = 0;  // the state whose steps are tried
  std::vector<bool> ends_;  // by number; in the end, states from which an end can be reached
  std::vector<std::pair<std::uint32_t, std::uint32_t>> steps_;  // from and to
  std::unordered_map<Key, std::uint32_t, KeyHash> number_;
};

void PrintTo(const Bounds& b, std::ostream* out) {
  *out << b.agents << "x" << b.phases << ", " << b.epochs << " epochs, " << b.restarts
       << " restarts";
}

class Exploration : public testing::TestWithParam<Bounds> {};

TEST_P(Exploration, NeverAWrongSumAndNeverStuck) {
  Explorer explorer(GetParam());
  explorer.run();
  EXPECT_EQ(explorer.wrong, "");
  EXPECT_EQ(explorer.stuck, 0u);
  EXPECT_GT(explorer.finished, 0u);
  RecordProperty("states", std::to_string(explorer.states()));
}

INSTANTIATE_TEST_SUITE_P(Orders, Exploration,
                         testing::Values(Bounds{2, 4, 1, 0}, Bounds{3, 3, 1, 0}, Bounds{2, 4, 1, 1},
                                         Bounds{2, 4, 2, 0}, Bounds{2, 4, 2, 1}, Bounds{3, 3, 1, 1},
                                         Bounds{3, 3, 2, 0}));
INSTANTIATE_TEST_SUITE_P(SlowExploration, Exploration, testing::Values(Bounds{3, 3, 2, 1}));

TEST(SlotPhases, ASlotOfAnotherEpochIsEmpty) {
  SlotPhases slot;
  slot.start(1, 0, 0, 2);
  slot.add(1);
  EXPECT_EQ(slot.decide(1, 0, 0).step, SlotStep::resend_current);
  EXPECT_EQ(slot.decide(2, 0, 0).step, SlotStep::start);
  EXPECT_EQ(slot.decide(2, 1, 0).reason, DropReason::unknown_phase);
}

TEST(SlotPhases, OnlyThePhaseBeforeIsKept) {
  SlotPhases slot;
  for (std::uint32_t k = 0; k < 3; ++k) {
    ASSERT_EQ(slot.decide(0, k, 0).step, SlotStep::start);
    slot.start(0, k, 0, 2);
    EXPECT_EQ(slot.decide(0, k, 0).step, SlotStep::nothing);
    EXPECT_EQ(slot.decide(0, k + 1, 1).reason, DropReason::early);
    slot.add(1);
  }
  EXPECT_EQ(slot.decide(0, 1, 0).step, SlotStep::resend_previous);
  EXPECT_EQ(slot.decide(0, 0, 0).reason, DropReason::replayed);
  EXPECT_EQ(slot.decide(0, 4, 0).reason, DropReason::early);
}

}  // namespace
}  // namespace tributary::in_network
