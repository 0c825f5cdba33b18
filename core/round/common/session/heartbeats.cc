#include "core/round/common/session/heartbeats.h"

#include <algorithm>

namespace tributary {

wire::HeartbeatT Heartbeats::beat(TimeNs now, wire::Activity activity, const RoundKey& round,
                                  TimeNs wait_ns) {
  activity_ = activity;
  round_ = round;
  due_at_ns_ = now + wait_ns;
  wire::HeartbeatT beat;
  beat.count = ++sent_;
  beat.activity = activity;
  beat.job = round.job;
  beat.round = round.round;
  beat.echo_count = echo_count_;
  beat.echo_sent_at_ns = echo_sent_at_ns_;
  beat.echo_held_ns =
      echo_count_ == 0
          ? 0
          : static_cast<std::uint64_t>(std::max<TimeNs>(now - echo_received_at_ns_, 0));
  return beat;
}

std::optional<Heartbeats::Answer> Heartbeats::receive(TimeNs now, const wire::Frame& frame) {
  const wire::Heartbeat* beat = frame.message_as_Heartbeat();
  // An older heartbeat has the echo of an older state.
  if (!beat || beat->count() <= echo_count_) return std::nullopt;
  echo_count_ = beat->count();
  echo_sent_at_ns_ = frame.sent_at_ns();
  echo_received_at_ns_ = now;
  if (beat->echo_count() == 0) return std::nullopt;
  // A peer may claim heartbeats that were never sent; those prove nothing.
  Answer answer{.beat = std::min(beat->echo_count(), sent_), .took_ns = {}};
  // Both numbers are claims of the other side and may be impossible.
  const auto at = static_cast<std::uint64_t>(std::max<TimeNs>(now, 0));
  if (beat->echo_sent_at_ns() > at) return answer;
  const std::uint64_t away = at - beat->echo_sent_at_ns();
  if (beat->echo_held_ns() > away) return answer;
  answer.took_ns = static_cast<TimeNs>(away - beat->echo_held_ns());
  return answer;
}

}  // namespace tributary
