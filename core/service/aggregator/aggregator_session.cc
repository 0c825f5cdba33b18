#include "core/service/aggregator/aggregator_session.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tributary {

using in_network::BucketEnd;
using in_network::DropReason;

AggregatorSession::AggregatorSession(const AggregatorSessionParts& parts,
                                     const AggregatorSessionOptions& options,
                                     const SumInNetwork& epoch)
    : parts_(parts),
      epoch_(epoch),
      exchange_({.handle = epoch.handle,
                 .agent = epoch.agent,
                 .agents = epoch.agents,
                 .table = epoch.table,
                 .wide = epoch.wide},
                {.slots = std::clamp(epoch.slot_count, 1u, 65'536u), .window = options.window}),
      before_(parts.counters) {
  packets_.reserve(kBatch);
  exchange_.enter(epoch.epoch);
  over_ = open_ports(options);
}

// A port for each epoch: the report that no process listens at the aggregator's port is of this
// epoch.
Status AggregatorSession::open_ports(const AggregatorSessionOptions& options) {
  TRIBUTARY_ASSIGN(aggregator_, UdpAddress::parse(epoch_.aggregator));
  TRIBUTARY_ASSIGN(port_, UdpPort::open({.listen = options.listen,
                                         .peer = aggregator_,
                                         .segments = options.segments,
                                         .batch = kBatch}));
  if (options.group == UdpAddress()) return {};
  TRIBUTARY_ASSIGN(group_, UdpPort::open({.listen = options.group,
                                          .segments = options.segments,
                                          .batch = kBatch,
                                          .group_interface = options.listen.ip}));
  return {};
}

void AggregatorSession::run(std::uint64_t number) {
  while (std::optional<AggregatorCommands::Work> work = parts_.commands.take(number)) {
    accept(*std::move(work));
    if (!current_) begin_next();
    if (current_) {
      Status received = receive();
      exchange_.on_time(now_ns());
      const bool unused = port_->counters().refused > 0;
      if (!received.ok()) {
        finish(std::move(received));
      } else if (unused || exchange_.end() != BucketEnd::running) {
        finish(failure());
      } else {
        send();  // after the results, which release packets
      }
    }
    count();
    wait();
  }
}

void AggregatorSession::accept(AggregatorCommands::Work work) {
  if (work.stopped) {
    if (over_.ok() && (current_ || !waiting_.empty() || work.dropped)) {
      over_ = Status(StatusCode::cancelled,
                     {.what = fmt::format("epoch {} of sums in the network", epoch_.epoch),
                      .expected = "a new epoch after an attempt that was stopped",
                      .got = "another bucket"});
    }
    current_.reset();
    waiting_.clear();
  }
  for (AggregatorCommands::Waiting& bucket : work.buckets) waiting_.push_back(std::move(bucket));
}

void AggregatorSession::begin_next() {
  while (!current_ && !waiting_.empty()) {
    AggregatorCommands::Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    current_ = std::move(next.bucket);
    if (!over_.ok()) {
      finish(over_);
      continue;
    }
    if (next.beyond_bound) {
      finish(Status(StatusCode::resource_exhausted, {.what = "buckets that wait for their sums",
                                                     .expected = "fewer bytes than the limit",
                                                     .got = "one bucket more"}));
      continue;
    }
    const ByteSpan levels = current_->levels.view();
    sums_ = std::make_shared<Bytes>(2 * levels.size() * (epoch_.wide ? 2 : 1));
    Status begun = exchange_.begin(levels, *sums_, current_->deadline_ns);
    if (!begun.ok()) finish(std::move(begun));
  }
}

// Ends the current bucket.
void AggregatorSession::finish(Status status) {
  if (!status.ok()) {
    over_ = status;
    sums_ = nullptr;
  }
  ++(status.ok() ? parts_.counters.buckets_summed : parts_.counters.buckets_failed);
  const std::uint64_t sent = exchange_.client().sent();
  const std::uint64_t repeats = exchange_.client().repeats();
  NetworkSummed answer{.id = current_->id,
                       .bucket = current_->bucket,
                       .status = std::move(status),
                       .sums = std::exchange(sums_, nullptr),
                       .packets = sent - std::exchange(sent_before_, sent),
                       .repeats = repeats - std::exchange(repeats_before_, repeats)};
  current_.reset();
  count();
  parts_.post(std::move(answer));
}

// The error of a bucket that has ended; ok if it is complete.
Status AggregatorSession::failure() const {
  const std::string what = fmt::format("sums in the network by {}", epoch_.aggregator);
  switch (exchange_.end()) {
    case BucketEnd::complete:
      return {};
    case BucketEnd::refused:
      return Status(StatusCode::unavailable,
                    {.what = what,
                     .expected = fmt::format("epoch {} to be served", epoch_.epoch),
                     .got = fmt::format("a refusal: {}", name(exchange_.client().refused_for()))});
    case BucketEnd::deadline:
      return Status(StatusCode::deadline_exceeded,
                    {.what = what,
                     .expected = "all sums before the deadline",
                     .got = fmt::format("some are missing after {} packets and {} repeats",
                                        exchange_.client().sent(), exchange_.client().repeats())});
    case BucketEnd::running:
      break;
  }
  return Status(StatusCode::unavailable, {.what = what,
                                          .expected = "a process at this port",
                                          .got = "none, says the aggregator's machine",
                                          .remedy = "start tributary-switchd there"});
}

void AggregatorSession::send() {
  bool more = true;
  while (more) {
    packets_.clear();
    while (packets_.size() < kBatch) {
      const std::optional<in_network::BucketPacket> packet = exchange_.next_packet(now_ns());
      more = packet.has_value();
      if (!more) break;
      packets_.push_back(*packet);
      port_->queue(aggregator_, packets_.back().header, packets_.back().body);
    }
    port_->flush();
  }
}

// Takes the datagrams of one system call for each port, because they release the next packets.
Status AggregatorSession::receive() {
  const auto visit = [this](ByteSpan bytes, UdpAddress from) { take(bytes, from); };
  TRIBUTARY_TRY(port_->receive(visit).status());
  return group_ ? group_->receive(visit).status() : Status();
}

void AggregatorSession::take(ByteSpan datagram, UdpAddress from) {
  if (from != aggregator_) {
    ++foreign_;
    return;
  }
  const DropReason reason = exchange_.receive(datagram, now_ns());
  // A result that nothing waits for is no fault: the answer to a repeat.
  if (reason == DropReason::none || reason == DropReason::replayed) return;
  parts_.telemetry.fault(in_network::packet_fault(reason, datagram));
}

void AggregatorSession::count() {
  AggregatorCounters& all = parts_.counters;
  if (port_) {
    all.packets_out = before_.packets_out + exchange_.client().sent();
    all.repeats = before_.repeats + exchange_.client().repeats();
    all.packets_in = before_.packets_in + port_->counters().received +
                     (group_ ? group_->counters().received : 0);
  }
  for (std::size_t i = 0; i < all.ignored.size(); ++i) {
    all.ignored[i] = before_.ignored[i] + exchange_.ignored()[i];
  }
  all.ignored[static_cast<std::size_t>(DropReason::foreign)] += foreign_;
  parts_.telemetry.set(all);
}

// Waits for a datagram, a command, or a time-out of the current bucket. poll() takes milliseconds,
// so a time-out may come one late.
void AggregatorSession::wait() const {
  if (!current_ && !waiting_.empty()) return;
  std::array<pollfd, 3> files = {
      pollfd{.fd = parts_.waker.file(), .events = POLLIN, .revents = 0},
      pollfd{.fd = current_ ? port_->file() : -1, .events = POLLIN, .revents = 0},
      pollfd{.fd = current_ && group_ ? group_->file() : -1, .events = POLLIN, .revents = 0}};
  int wait_ms = -1;
  if (current_) {
    constexpr std::int64_t kLongestNs = 1'000'000'000;
    const std::int64_t wait_ns = exchange_.next_time_ns() - now_ns();
    wait_ms = static_cast<int>(std::clamp<std::int64_t>(wait_ns, 0, kLongestNs) / 1'000'000 + 1);
  }
  ::poll(files.data(), files.size(), wait_ms);
}

}  // namespace tributary
