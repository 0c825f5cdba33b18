#include "core/collective/in_network/bucket_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tributary::in_network {

Status BucketExchange::begin(ByteSpan levels, MutableByteSpan sums, std::int64_t deadline_ns) {
  const std::size_t values = 2 * levels.size();
  const std::size_t sum_bytes = values * (job_.wide ? 2 : 1);
  if (values % kCountUnit != 0 || sums.size() != sum_bytes ||
      values / count_max(job_.wide) >= UINT32_MAX) {
    return Status(StatusCode::invalid_argument,
                  {.what = "a bucket for sums in the network",
                   .expected = fmt::format("a multiple of {} values, and {} bytes of sums",
                                           kCountUnit, sum_bytes),
                   .got = fmt::format("{} values, {} bytes", values, sums.size())});
  }
  levels_ = levels;
  sums_ = sums;
  const std::uint32_t step = count_max(job_.wide);
  client_.begin(static_cast<std::uint32_t>((values + step - 1) / step), deadline_ns);
  return {};
}

std::uint32_t BucketExchange::count_of(std::uint32_t chunk) const {
  const std::size_t first = std::size_t{chunk} * count_max(job_.wide);
  return static_cast<std::uint32_t>(
      std::min<std::size_t>(count_max(job_.wide), 2 * levels_.size() - first));
}

std::optional<BucketPacket> BucketExchange::next_packet(std::int64_t now_ns) {
  const std::optional<ChunkSend> send = client_.next_send(now_ns);
  if (!send) return std::nullopt;
  const std::uint32_t count = count_of(send->chunk);
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
  packet.body = levels_.subspan(std::size_t{send->chunk} * count_max(job_.wide) / 2, count / 2);
  return packet;
}

bool BucketExchange::fits(const Packet& packet) const {
  const PacketHeader& header = packet.header;
  return header.job == job_.handle && header.agents == job_.agents && header.table == job_.table &&
         header.wide == job_.wide;
}

void BucketExchange::receive(ByteSpan datagram, std::int64_t now_ns) {
  Packet packet;
  if (parse_packet(datagram, packet) != DropReason::none || !fits(packet)) {
    ++ignored_;
    return;
  }
  const PacketHeader& header = packet.header;
  if (header.type == PacketType::refusal && header.agent == job_.agent) {
    if (!client_.on_refusal(header)) ++ignored_;
    return;
  }
  const bool all = packet.contributors == ~std::uint64_t{0} >> (64 - job_.agents);
  const std::optional<std::uint32_t> awaited = client_.chunk_of(header);
  if (header.type != PacketType::result || !all || !awaited || header.count != count_of(*awaited)) {
    ++ignored_;
    return;
  }
  const std::size_t step = kSumsBytesMax;  // count_max() sums of either width
  std::memcpy(sums_.data() + *awaited * step, packet.body.data(), packet.body.size());
  client_.on_result(header, now_ns);
}

}  // namespace tributary::in_network
