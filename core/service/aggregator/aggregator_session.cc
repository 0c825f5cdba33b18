#include "core/service/aggregator/aggregator_session.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <ctime>
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
                 .wide = epoch.wide,
                 .packet_values = epoch.packet_values},
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
  std::uint32_t busy = 0;  // looks at the ports in a row that have found something
  while (std::optional<AggregatorCommands::Work> work = parts_.commands.take(number)) {
    accept(*std::move(work));
    if (!running_.empty()) {
      const Result<std::size_t> received = receive();
      // A chunk is not overdue while its result may wait in a port.
      busy = received.ok() && *received > 0 ? busy + 1 : 0;
      if (busy % kLooksMax == 0) exchange_.on_time(now_ns());
      answer_completed();
      const bool unused = port_->counters().refused > 0;
      if (!received.ok()) {
        fail(received.status());
      } else if (!running_.empty() && (unused || exchange_.end() != BucketEnd::running)) {
        fail(failure());
      }
    }
    while (begin_next() || send()) {  // after the results, which release packets
    }
    count();
    wait();
  }
}

void AggregatorSession::accept(AggregatorCommands::Work work) {
  if (work.stopped) {
    if (over_.ok() && (!running_.empty() || !waiting_.empty() || work.dropped)) {
      over_ = Status(StatusCode::cancelled,
                     {.what = fmt::format("epoch {} of sums in the network", epoch_.epoch),
                      .expected = "a new epoch after an attempt that was stopped",
                      .got = "another bucket"});
    }
    running_.clear();
    answered_ = exchange_.client().begun();
    waiting_.clear();
  }
  for (AggregatorCommands::Waiting& bucket : work.buckets) waiting_.push_back(std::move(bucket));
}

// Returns whether a bucket that waited has begun or has ended.
bool AggregatorSession::begin_next() {
  if (waiting_.empty() || (over_.ok() && !exchange_.can_begin())) return false;
  AggregatorCommands::Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  const ByteSpan levels = next.bucket.levels.view();
  const std::int64_t deadline_ns = next.bucket.deadline_ns;
  running_.push_back({.bucket = std::move(next.bucket), .sums = nullptr});
  Status begun = over_;
  if (begun.ok() && next.beyond_bound) {
    begun = Status(StatusCode::resource_exhausted, {.what = "buckets that wait for their sums",
                                                    .expected = "fewer bytes than the limit",
                                                    .got = "one bucket more"});
  }
  if (begun.ok()) {
    running_.back().sums = std::make_shared<Bytes>(2 * levels.size() * (epoch_.wide ? 2 : 1));
    begun = exchange_.begin(levels, *running_.back().sums, deadline_ns);
  }
  if (!begun.ok()) fail(begun);
  answer_completed();
  return true;
}

void AggregatorSession::answer_completed() {
  while (answered_ < exchange_.completed()) answer_first({});
}

// Ends all buckets that run, and the epoch.
void AggregatorSession::fail(const Status& status) {
  if (over_.ok()) over_ = status;
  while (!running_.empty()) answer_first(status);
}

void AggregatorSession::answer_first(Status status) {
  Running first = std::move(running_.front());
  running_.pop_front();
  if (!status.ok()) first.sums = nullptr;
  ++(status.ok() ? parts_.counters.buckets_summed : parts_.counters.buckets_failed);
  const bool begun = answered_ < exchange_.client().begun();
  NetworkSummed answer{.id = first.bucket.id,
                       .bucket = first.bucket.bucket,
                       .status = std::move(status),
                       .sums = std::move(first.sums),
                       .packets = begun ? exchange_.client().sent_of(answered_) : 0,
                       .repeats = begun ? exchange_.client().repeats_of(answered_) : 0};
  ++answered_;
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

// Returns whether a packet was sent.
bool AggregatorSession::send() {
  if (running_.empty()) return false;  // the levels are gone
  packets_.clear();
  while (packets_.size() < kBatch) {
    const std::optional<in_network::BucketPacket> packet = exchange_.next_packet(now_ns());
    if (!packet) break;
    packets_.push_back(*packet);
    port_->queue(aggregator_, packets_.back().header, packets_.back().body);
  }
  if (packets_.empty()) return false;
  port_->flush();
  return true;
}

// Takes the datagrams of one system call for each port, because they release the next packets.
// Returns their number.
Result<std::size_t> AggregatorSession::receive() {
  const auto visit = [this](ByteSpan bytes, UdpAddress from) { take(bytes, from); };
  TRIBUTARY_ASSIGN(std::size_t found, port_->receive(visit));
  if (group_) {
    TRIBUTARY_ASSIGN(const std::size_t more, group_->receive(visit));
    found += more;
  }
  return found;
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

// Waits for a datagram, a command, or the next time-out of the exchange. Round trips are shorter
// than a millisecond, so the time-out is in nanoseconds.
void AggregatorSession::wait() const {
  const bool runs = !running_.empty();
  std::array<pollfd, 3> files = {
      pollfd{.fd = parts_.waker.file(), .events = POLLIN, .revents = 0},
      pollfd{.fd = runs ? port_->file() : -1, .events = POLLIN, .revents = 0},
      pollfd{.fd = runs && group_ ? group_->file() : -1, .events = POLLIN, .revents = 0}};
  timespec at_most = {};
  if (runs) {
    constexpr std::int64_t kSecondNs = 1'000'000'000;
    const std::int64_t wait_ns =
        std::clamp<std::int64_t>(exchange_.next_time_ns() - now_ns(), 0, kSecondNs);
    at_most = {.tv_sec = wait_ns / kSecondNs, .tv_nsec = wait_ns % kSecondNs};
  }
  ::ppoll(files.data(), files.size(), runs ? &at_most : nullptr, nullptr);
}

}  // namespace tributary
