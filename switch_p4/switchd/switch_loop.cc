#include "switch_p4/switchd/switch_loop.h"

#include <algorithm>

namespace tributary::switchd {
namespace {

constexpr std::size_t kRepliesMax = 128;
constexpr int kCallsPerTurn = 64;  // then signals are looked at

}  // namespace

SwitchLoop::SwitchLoop(UdpPort& port, in_network::SlotRules& rules, UdpAddress group)
    : port_(port),
      rules_(rules),
      group_(group),
      replies_(kRepliesMax * in_network::kPacketBytesMax) {
  pending_.reserve(kRepliesMax);
}

Result<std::size_t> SwitchLoop::turn() {
  std::size_t all = 0;
  for (int call = 0; call < kCallsPerTurn; ++call) {
    TRIBUTARY_ASSIGN(const std::size_t got,
                     port_.receive([this](ByteSpan bytes, UdpAddress from) { take(bytes, from); }));
    all += got;
    if (got == 0) break;
  }
  flush();
  watch_.look(rules_.counters().results, rules_.counters().resent);
  return all;
}

void SwitchLoop::take(ByteSpan datagram, UdpAddress from) {
  if (pending_.size() == kRepliesMax) flush();
  const in_network::SlotReply answer =
      rules_.handle(datagram, from.number(), reply(pending_.size()));
  if (answer.to == in_network::ReplyTo::none) return;
  const bool all = answer.to == in_network::ReplyTo::all_agents;
  pending_.push_back({.bytes = answer.bytes, .all = all, .to = from});
  if (!all) return;
  if (has_job_ && job_ != answer.job) {
    // Only this reply has another job: the others go first.
    const Pending last = pending_.back();
    pending_.pop_back();
    const std::size_t at = pending_.size();
    flush();
    if (at != 0) std::copy_n(reply(at).data(), last.bytes, reply(0).data());
    pending_.push_back(last);
  }
  job_ = answer.job;
  has_job_ = true;
}

void SwitchLoop::flush() {
  const auto send = [&](UdpAddress to, bool all) {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (pending_[i].all == all) {
        port_.queue(all ? to : pending_[i].to, reply(i).first(pending_[i].bytes));
      }
    }
  };
  if (has_job_ && group_ != UdpAddress() && watch_.uses_group()) {
    send(group_, true);
  } else if (has_job_) {
    for (const in_network::PacketSource source : rules_.sources(job_)) {
      send(UdpAddress::of_number(source), true);
    }
  }
  send({}, false);
  port_.flush();
  pending_.clear();
  has_job_ = false;
}

}  // namespace tributary::switchd
