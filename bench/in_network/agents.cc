#include "bench/in_network/agents.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <memory>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/collective/in_network/bucket_exchange.h"
#include "core/net/udp/udp_port.h"

namespace tributary::bench {
namespace {

using in_network::BucketEnd;
using in_network::BucketExchange;
using in_network::BucketPacket;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::size_t kPacketsMax = 64;  // of one agent between two looks at what has arrived

std::int64_t now_ns() { return SystemClock().now().count(); }

double cpu_now_s() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

Bytes levels_of(std::uint32_t agent, std::size_t bytes) {
  Bytes levels(bytes);
  for (std::uint32_t i = 0; i < bytes; ++i) {
    levels[i] = static_cast<std::uint8_t>(random_bits({1, agent}, i));
  }
  return levels;
}

class BusyAgents {
 public:
  explicit BusyAgents(const AgentsSettings& settings) : settings_(settings) {}

  Status open();
  Status round();
  std::uint64_t repeats() const {
    std::uint64_t all = 0;
    for (const BucketExchange& exchange : exchanges_) all += exchange.client().repeats();
    return all;
  }

  std::uint32_t window() const { return exchanges_.front().client().window(); }

 private:
  Status receive();
  void send(std::size_t agent);
  void wait(std::vector<pollfd>& ready) const;
  bool by_group() const { return settings_.group != UdpAddress(); }
  UdpPort& port_of(std::size_t agent) { return *ports_[by_group() ? 0 : agent]; }
  Status open_port(const UdpAddress& listen);
  bool ended() const {
    return std::ranges::all_of(exchanges_, [](const BucketExchange& exchange) {
      return exchange.end() != BucketEnd::running;
    });
  }

  const AgentsSettings& settings_;
  // One for each agent; or one of all agents, and the group's.
  std::vector<std::unique_ptr<UdpPort>> ports_;
  std::deque<BucketExchange> exchanges_;
  std::vector<Bytes> levels_;
  std::vector<Bytes> sums_;
  Bytes expected_;
  std::vector<BucketPacket> packets_;
};

Status BusyAgents::open() {
  expected_.assign(settings_.values, 0);
  for (std::uint8_t agent = 0; agent < settings_.agents; ++agent) {
    Bytes levels = levels_of(agent, settings_.values / 2);
    for (std::size_t i = 0; i < settings_.values; ++i) {
      const unsigned level = levels[i / 2] >> (i % 2 * 4) & 15;
      expected_[i] = static_cast<std::uint8_t>(expected_[i] + 2 * level);
    }
    if (agent < settings_.first || agent >= settings_.first + settings_.count) continue;
    levels_.push_back(std::move(levels));
    sums_.emplace_back(settings_.values);
    exchanges_.emplace_back(
        in_network::BucketJob{.handle = settings_.job,
                              .agent = agent,
                              .agents = settings_.agents,
                              .table = settings_.table},
        in_network::SlotClientOptions{
            .slots = settings_.slots,
            .window = settings_.window,
            .timeout_ns_min = std::int64_t{settings_.timeout_ms_min} * 1'000'000});
    exchanges_.back().enter(settings_.epoch);
    if (!by_group() || ports_.empty()) TRIBUTARY_TRY(open_port({}));
  }
  if (by_group()) TRIBUTARY_TRY(open_port(settings_.group));
  packets_.reserve(kPacketsMax);
  return {};
}

Status BusyAgents::open_port(const UdpAddress& listen) {
  TRIBUTARY_ASSIGN(std::unique_ptr<UdpPort> port,
                   UdpPort::open({.listen = listen, .segments = settings_.segments}));
  ports_.push_back(std::move(port));
  return {};
}

// Headers stay where they are until the flush.
void BusyAgents::send(std::size_t agent) {
  packets_.clear();
  UdpPort& port = port_of(agent);
  while (packets_.size() < kPacketsMax) {
    const auto packet = exchanges_[agent].next_packet(now_ns());
    if (!packet) break;
    packets_.push_back(*packet);
    port.queue(settings_.aggregator, packets_.back().header, packets_.back().body);
  }
  port.flush();
}

Status BusyAgents::receive() {
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    for (std::size_t got = 1; got > 0;) {
      TRIBUTARY_ASSIGN(got, ports_[p]->receive([&](ByteSpan bytes, UdpAddress) {
        const std::int64_t now = now_ns();
        if (!by_group()) {
          exchanges_[p].receive(bytes, now);
          return;
        }
        for (BucketExchange& exchange : exchanges_) exchange.receive(bytes, now);
      }));
    }
  }
  for (BucketExchange& exchange : exchanges_) exchange.on_time(now_ns());
  return {};
}

// For a datagram or the next time-out, at most for a second.
void BusyAgents::wait(std::vector<pollfd>& ready) const {
  std::int64_t next_ns = in_network::kNoTime;
  for (const BucketExchange& exchange : exchanges_) {
    next_ns = std::min(next_ns, exchange.next_time_ns());
  }
  const timespec at_most = {
      .tv_sec = 0, .tv_nsec = std::clamp<std::int64_t>(next_ns - now_ns(), 0, kSecond - 1)};
  ::ppoll(ready.data(), ready.size(), &at_most, nullptr);
}

Status BusyAgents::round() {
  const std::int64_t deadline = now_ns() + 60 * kSecond;
  for (std::size_t a = 0; a < exchanges_.size(); ++a) {
    std::ranges::fill(sums_[a], std::uint8_t{0});
    TRIBUTARY_TRY(exchanges_[a].begin(levels_[a], sums_[a], deadline));
  }
  std::vector<pollfd> ready;
  for (const auto& port : ports_) {
    ready.push_back({.fd = port->file(), .events = POLLIN, .revents = 0});
  }
  while (!ended()) {
    for (std::size_t a = 0; a < exchanges_.size(); ++a) send(a);
    wait(ready);
    TRIBUTARY_TRY(receive());
  }
  for (std::size_t a = 0; a < exchanges_.size(); ++a) {
    if (exchanges_[a].end() != BucketEnd::complete) {
      return Status(StatusCode::unavailable, {.what = "a bucket through the aggregator",
                                              .expected = "all results",
                                              .got = "a refusal, or none for a minute"});
    }
    if (sums_[a] != expected_) {
      return Status(StatusCode::mismatch, {.what = "a bucket through the aggregator",
                                           .expected = "the sums of all agents' places"});
    }
  }
  return {};
}

}  // namespace

Result<AgentsFigures> run_agents(const AgentsSettings& settings) {
  BusyAgents agents(settings);
  TRIBUTARY_TRY(agents.open());
  AgentsFigures figures;
  const double cpu_s = cpu_now_s();
  const std::int64_t start = now_ns();
  for (std::uint32_t round = 0; round < settings.rounds; ++round) {
    const std::int64_t begin = now_ns();
    if (settings.seconds > 0 && static_cast<double>(begin - start) * 1e-9 >= settings.seconds)
      break;
    TRIBUTARY_TRY(agents.round());
    figures.began_s.push_back(static_cast<double>(begin) * 1e-9);
    figures.round_s.push_back(static_cast<double>(now_ns() - begin) * 1e-9);
    figures.contributions += settings.count * ((settings.values + 1023) / 1024);
  }
  figures.cpu_s = cpu_now_s() - cpu_s;
  figures.repeats = agents.repeats();
  figures.window = agents.window();
  return figures;
}

}  // namespace tributary::bench
