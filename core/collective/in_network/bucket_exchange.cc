#include "core/collective/in_network/bucket_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tributary::in_network {

Status BucketExchange::begin(ByteSpan levels, MutableByteSpan sums, std::int64_t deadline_ns) {
  const std::size_t values = 2 * levels.size();
  const std::size_t sum_bytes = values * (job_.wide ? 2 : 1);
  if (values % kCountUnit != 0 || sums.size() != sum_bytes || values / job_.count() >= UINT32_MAX) {
    return Status(StatusCode::invalid_argument,
                  {.what = "a bucket for sums in the network",
                   .expected = fmt::format("a multiple of {} values, and {} bytes of sums",
                                           kCountUnit, sum_bytes),
                   .got = fmt::format("{} values, {} bytes", values, sums.size())});
  }
  open(client_.begun()) = {.levels = levels, .sums = sums};
  const std::uint32_t step = job_.count();
  client_.begin(static_cast<std::uint32_t>((values + step - 1) / step), deadline_ns);
  return {};
}

std::uint32_t BucketExchange::count_of(const Bucket& bucket, std::uint32_t chunk) const {
  const std::size_t first = std::size_t{chunk} * job_.count();
  return static_cast<std::uint32_t>(
      std::min<std::size_t>(job_.count(), 2 * bucket.levels.size() - first));
}

std::optional<BucketPacket> BucketExchange::next_packet(std::int64_t now_ns) {
  const std::optional<ChunkSend> send = client_.next_send(now_ns);
  if (!send) return std::nullopt;
  const Bucket& bucket = open(send->bucket);
  const std::uint32_t count = count_of(bucket, send->chunk);
  const PacketHeader header = {.type = PacketType::contribution,
                               .wide = job_.wide,
                               .agent = job_.agent,
                               .agents = job_.agents,
                               .job = job_.handle,
                               .epoch = client_.epoch(),
                               .sequence = send->sequence,
                               .slot = send->slot,
                               .count = static_cast<std::uint16_t>(count),
                               .table = job_.table};
  BucketPacket packet;
  write_header(header, packet.header.data());
  packet.body = bucket.levels.subspan(std::size_t{send->chunk} * job_.count() / 2, count / 2);
  return packet;
}

DropReason BucketExchange::check(const Packet& packet) const {
  const PacketHeader& header = packet.header;
  if (header.type == PacketType::contribution) return DropReason::foreign;
  if (header.job != job_.handle) return DropReason::unknown_job;
  if (header.agents != job_.agents) return DropReason::wrong_agent;
  if (header.table != job_.table) return DropReason::wrong_table;
  if (header.wide != job_.wide) return DropReason::sum_too_wide;
  return DropReason::none;
}

DropReason BucketExchange::receive(ByteSpan datagram, std::int64_t now_ns) {
  const DropReason reason = take(datagram, now_ns);
  if (reason != DropReason::none) ++ignored_[static_cast<std::size_t>(reason)];
  return reason;
}

DropReason BucketExchange::take(ByteSpan datagram, std::int64_t now_ns) {
  Packet packet;
  if (const DropReason fault = parse_packet(datagram, packet); fault != DropReason::none) {
    return fault;
  }
  if (const DropReason other = check(packet); other != DropReason::none) return other;
  const PacketHeader& header = packet.header;
  if (header.type == PacketType::refusal) {
    if (header.agent != job_.agent) return DropReason::wrong_agent;
    return client_.on_refusal(header) ? DropReason::none : DropReason::replayed;
  }
  const bool all = packet.contributors == ~std::uint64_t{0} >> (64 - job_.agents);
  if (!all) return DropReason::wrong_agent;
  const std::optional<ChunkOfBucket> awaited = client_.chunk_of(header);
  if (!awaited) return DropReason::replayed;
  const Bucket& bucket = open(awaited->bucket);
  if (header.count != count_of(bucket, awaited->chunk)) return DropReason::wrong_count;
  const std::size_t step = body_bytes(PacketType::result, job_.count(), job_.wide);
  std::memcpy(bucket.sums.data() + awaited->chunk * step, packet.body.data(), packet.body.size());
  client_.on_result(header, now_ns);
  return DropReason::none;
}

}  // namespace tributary::in_network
