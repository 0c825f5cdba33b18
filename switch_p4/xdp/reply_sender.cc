#include "switch_p4/xdp/reply_sender.h"

#include <algorithm>

namespace tributary::switch_xdp {

void ReplySender::take(const XdpReply& reply) {
  // Results of two jobs go to different agents.
  if (pending_.size() == kPackets || (!pending_.empty() && pending_.back().job != reply.job)) {
    flush();
  }
  const std::size_t bytes = std::min<std::size_t>(reply.bytes, kXdpPacketBytesMax);
  std::copy_n(reply.packet, bytes,
              packets_.begin() + static_cast<std::ptrdiff_t>(pending_.size() * kXdpPacketBytesMax));
  pending_.push_back({.to = reply.to, .job = reply.job, .bytes = bytes});
}

void ReplySender::send(std::size_t number, UdpAddress to) {
  port_.queue(to, ByteSpan(packets_).subspan(number * kXdpPacketBytesMax, pending_[number].bytes));
}

void ReplySender::flush() {
  if (pending_.empty()) return;
  const XdpJob& job = gateway_.job_entry(pending_.front().job);
  const auto send_results = [this](UdpAddress to) {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (pending_[i].to == 0) send(i, to);
    }
  };
  if (group_ != UdpAddress() && job.unicast == 0) {
    send_results(group_);
  } else {
    for (std::size_t agent = 0; agent < job.agents; ++agent) {
      if (job.sources[agent] != 0) send_results(UdpAddress::of_number(job.sources[agent]));
    }
  }
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i].to != 0) send(i, UdpAddress::of_number(pending_[i].to));
  }
  port_.flush();
  pending_.clear();
}

}  // namespace tributary::switch_xdp
