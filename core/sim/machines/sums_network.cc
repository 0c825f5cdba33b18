#include "core/sim/machines/sums_network.h"

#include <algorithm>
#include <utility>

namespace tributary {
namespace {

using in_network::BucketEnd;
using in_network::BucketExchange;

constexpr std::size_t kSumsAt = in_network::kHeaderBytes + in_network::kContributorsBytes;
constexpr std::size_t kTypeAt = 3;  // docs/in_network.md

// A process has one source of packets.
in_network::PacketSource source_of(std::uint32_t agent, std::uint64_t life) {
  return life << 32 | (agent + 1);
}

NetworkSettings packets_of(const AggregatorSettings& settings) {
  NetworkSettings packets;
  packets.delay = settings.delay;
  packets.loss = settings.loss;
  packets.duplication = settings.duplication;
  packets.reordering = settings.reordering;
  packets.ordered = false;
  return packets;
}

}  // namespace

SumsNetwork::SumsNetwork(SimulationContext& sim)
    : sim_(sim),
      packets_(packets_of(sim.scenario.aggregator)),
      draws_(sim.seed, DrawUse::packets, UINT64_MAX) {
  for (std::uint32_t i = 0; i < sim.scenario.agents; ++i) {
    clients_.push_back(
        {.up = Link(packets_, SeededDraws(sim.seed, DrawUse::packets, std::uint64_t{i} * 2)),
         .down =
             Link(packets_, SeededDraws(sim.seed, DrawUse::packets, std::uint64_t{i} * 2 + 1))});
  }
}

// --- agents --------------------------------------------------------------------------------------

void SumsNetwork::exchange(std::uint32_t agent, SumInNetwork request, TimeNs deadline_ns) {
  Client& client = clients_[agent];
  if (!client.exchange || !same_epoch(client.epoch, request)) {
    client.exchange = std::make_unique<BucketExchange>(
        in_network::BucketJob{.handle = request.handle,
                              .agent = request.agent,
                              .agents = request.agents,
                              .table = request.table,
                              .wide = request.wide,
                              .packet_values = request.packet_values},
        in_network::SlotClientOptions{.slots = request.slot_count});
    client.exchange->enter(request.epoch);
    client.epoch = request;
    client.epoch.levels = {};
    client.waiting.clear();
    client.answered = 0;
  }
  client.waiting.push_back({.request = std::move(request), .deadline_ns = deadline_ns});
  // Not within the action, because the machine that asked is still at work.
  sim_.queue.after(0, [this, agent, life = client.life] {
    if (clients_[agent].life == life) go_on(agent);
  });
}

void SumsNetwork::stop(std::uint32_t agent, const RoundKey& id) {
  Client& client = clients_[agent];
  if (client.waiting.empty() || client.waiting.front().request.id != id) return;
  client.waiting.clear();
  client.exchange.reset();
}

void SumsNetwork::close(std::uint32_t agent) {
  Client& client = clients_[agent];
  ++client.life;
  client.waiting.clear();
  client.exchange.reset();
}

bool SumsNetwork::begin_next(Client& client) {
  const std::uint32_t running = client.running();
  if (running == client.waiting.size() || !client.exchange->can_begin()) return false;
  auto& [request, deadline_ns, sums] = client.waiting[running];
  sums = std::make_shared<Bytes>(request.levels.size() * (request.wide ? 4u : 2u));
  const Status begun = client.exchange->begin(request.levels.view(), *sums, deadline_ns);
  if (begun.ok()) return true;
  sim_.watch.report(sim_.now(), "in_network", begun.text());
  return false;
}

void SumsNetwork::go_on(std::uint32_t agent) {
  Client& client = clients_[agent];
  if (!client.exchange || client.waiting.empty()) return;
  client.exchange->on_time(sim_.now());
  do {
    while (const auto packet = client.exchange->next_packet(sim_.now())) {
      Bytes datagram(packet->header.begin(), packet->header.end());
      datagram.insert(datagram.end(), packet->body.begin(), packet->body.end());
      carry(agent, false, std::move(datagram));
    }
  } while (begin_next(client));
  const BucketEnd end = client.exchange->end();
  const bool failed = end == BucketEnd::refused || end == BucketEnd::deadline;
  if (!failed && client.answered == client.exchange->completed()) return plan_wakeup(agent);
  // The event may start others, or end the process.
  const std::uint64_t life = client.life;
  finish_first(agent);
  if (client.life == life) go_on(agent);
}

// The first bucket has ended.
void SumsNetwork::finish_first(std::uint32_t agent) {
  Client& client = clients_[agent];
  const in_network::SlotClient& slots = client.exchange->client();
  const Waiting first = std::move(client.waiting.front());
  NetworkSummed summed{.id = first.request.id,
                       .bucket = first.request.bucket,
                       .packets = slots.sent_of(client.answered),
                       .repeats = slots.repeats_of(client.answered)};
  const bool complete = client.answered < client.exchange->completed();
  switch (complete ? BucketEnd::complete : client.exchange->end()) {
    case BucketEnd::refused:
      sim_.tally.add("sums_refused");
      summed.status = Status(StatusCode::unavailable,
                             {.what = "sums in the network",
                              .expected = "an aggregator with this epoch",
                              .got = std::string(in_network::name(slots.refused_for()))});
      break;
    case BucketEnd::deadline:
      sim_.tally.add("sums_overdue");
      summed.status = Status(StatusCode::deadline_exceeded, {.what = "sums in the network"});
      break;
    default:
      summed.sums = first.sums;
  }
  client.waiting.pop_front();
  ++client.answered;
  if (!summed.status.ok()) {
    client.waiting.clear();
    client.exchange.reset();
  }
  agents_[agent](summed);
}

void SumsNetwork::plan_wakeup(std::uint32_t agent) {
  Client& client = clients_[agent];
  const TimeNs due = std::max(client.exchange->next_time_ns(), sim_.now());
  if (due == INT64_MAX || (client.wakes_ns > sim_.now() && client.wakes_ns <= due)) return;
  client.wakes_ns = due;
  sim_.queue.at(due, [this, agent, due] {
    Client& woken = clients_[agent];
    if (woken.wakes_ns == due) woken.wakes_ns = INT64_MAX;
    go_on(agent);
  });
}

// --- packets -------------------------------------------------------------------------------------

// A datagram with a flipped bit fails its checksum.
void SumsNetwork::carry(std::uint32_t agent, bool to_agent, Bytes datagram) {
  Client& client = clients_[agent];
  Link& link = to_agent ? client.down : client.up;
  sim_.sent.packet_bytes += datagram.size();
  const Passage passage = link.pass(sim_.now(), datagram.size(), sim_.faulty, tally_);
  if (passage.copies == 0 || passage.flip) return;
  const auto shared = std::make_shared<const Bytes>(std::move(datagram));
  for (int copy = 0; copy < passage.copies; ++copy) {
    sim_.queue.at(passage.arrives_at_ns[static_cast<std::size_t>(copy)],
                  [this, agent, to_agent, life = client.life, shared] {
                    arrive(agent, life, to_agent, *shared);
                  });
  }
}

void SumsNetwork::arrive(std::uint32_t agent, std::uint64_t life, bool to_agent,
                         const Bytes& datagram) {
  if (!to_agent) return aggregate(agent, life, datagram);
  Client& client = clients_[agent];
  if (client.life != life || !client.exchange || client.running() == 0) return;
  client.exchange->receive(datagram, sim_.now());
  go_on(agent);
}

void SumsNetwork::aggregate(std::uint32_t agent, std::uint64_t life, const Bytes& datagram) {
  if (!rules_) return;
  Bytes reply(in_network::kPacketBytesMax);
  const in_network::SlotReply answer = rules_->handle(datagram, source_of(agent, life), reply);
  if (answer.to == in_network::ReplyTo::none) return;
  reply.resize(answer.bytes);
  const bool result = reply[kTypeAt] == static_cast<std::uint8_t>(in_network::PacketType::result);
  if (result && lies_ > 0) {
    --lies_;
    falsify(reply);
  }
  if (result) old_result_ = reply;
  if (answer.to == in_network::ReplyTo::sender) return carry(agent, true, std::move(reply));
  for (const in_network::PacketSource source : rules_->sources(answer.job)) {
    carry(static_cast<std::uint32_t>(source & UINT32_MAX) - 1, true, reply);
  }
}

// Wrong sums that no check of a packet notices.
void SumsNetwork::falsify(Bytes& result) {
  const std::size_t sums = result.size() - kSumsAt;
  const std::size_t at = kSumsAt + draws_.below(sums);
  switch (draws_.below(4)) {
    case 0:
      sim_.tally.add("sum_one_more");
      ++result[at];
      break;
    case 1:
      sim_.tally.add("sum_high_bit");
      result[at] ^= 0x80;
      break;
    case 2: {
      sim_.tally.add("sums_permuted");
      const std::size_t other = kSumsAt + (at - kSumsAt + 1 + draws_.below(sums - 1)) % sums;
      std::swap(result[at], result[other]);
      // Equal sums would hide it.
      if (result[at] == result[other]) --result[at];
      break;
    }
    default:
      sim_.tally.add("sums_replayed");
      if (old_result_.size() != result.size()) {
        ++result[at];
        break;
      }
      std::copy(old_result_.begin() + kSumsAt, old_result_.end(),
                result.begin() + static_cast<std::ptrdiff_t>(kSumsAt));
  }
}

// --- the aggregator ------------------------------------------------------------------------------

void SumsNetwork::start() {
  Result<in_network::SlotRules> made = in_network::SlotRules::make(sim_.scenario.aggregator.slots);
  if (!made.ok()) return sim_.watch.report(sim_.now(), "scenario", made.status().text());
  rules_ = std::move(*made);
}

EpochDecided SumsNetwork::install(const wire::InstallEpochT& install) {
  EpochDecided decided{.job = install.job, .handle = install.handle, .epoch = install.epoch};
  std::uint32_t& highest = highest_[install.handle];
  decided.epoch_highest = highest;
  if (install.epoch <= highest) {
    decided.status = Status(StatusCode::mismatch, {.what = "epoch", .expected = "a higher one"});
    return decided;
  }
  in_network::SlotJob job{.handle = install.handle,
                          .epoch = install.epoch,
                          .agents = install.agents,
                          .granularity = install.granularity,
                          .table = install.table,
                          .slots = install.slot_count,
                          .packet_values = install.packet_values};
  std::copy_n(install.places.begin(), job.places.size(), job.places.begin());
  decided.status = rules_->install(job);
  if (decided.status.ok()) decided.epoch_highest = highest = install.epoch;
  return decided;
}

// --- faults --------------------------------------------------------------------------------------

void SumsNetwork::cut_off(std::uint32_t agent, TimeNs until_ns) {
  clients_[agent].up.cut(sim_.now(), until_ns);
  clients_[agent].down.cut(sim_.now(), until_ns);
}

void SumsNetwork::mend_all() {
  lies_ = 0;
  for (Client& client : clients_) {
    client.up.mend();
    client.down.mend();
  }
}

}  // namespace tributary
