#include "core/round/common/session/delivery_timer.h"

#include <algorithm>
#include <utility>

namespace tributary {
namespace {

// Every measurement may be too slow, also if the round trip was a small part of it.
bool better(const Delivery& one, const Delivery& other) {
  const auto key = [](const Delivery& delivery) {
    return std::pair(delivery.is_large(), -delivery.s_per_byte());
  };
  return key(one) > key(other);
}

}  // namespace

// At most half of the time is subtracted, because the least round trip may be known too long.
double Delivery::s_per_byte() const {
  const TimeNs without_trip = std::max(took_ns - round_trip_ns, took_ns / 2);
  return static_cast<double>(without_trip) / 1e9 / static_cast<double>(bytes);
}

DeliveryTimer::Run DeliveryTimer::sent(TimeNs now, std::uint64_t bytes, bool idle) {
  if (std::exchange(paused_, false) || idle) run_ = {.began_ns = now};
  run_.bytes += bytes;
  return run_;
}

void DeliveryTimer::acknowledged(TimeNs now, const Run& run, TimeNs round_trip_min_ns) {
  const Delivery delivery = {
      .bytes = run.bytes, .took_ns = now - run.began_ns, .round_trip_ns = round_trip_min_ns};
  if (round_trip_min_ns <= 0 || delivery.took_ns <= 0 || delivery.bytes < kBytesMin) return;
  if (!best_ || better(delivery, *best_)) best_ = delivery;
}

std::optional<Delivery> DeliveryTimer::take() { return std::exchange(best_, std::nullopt); }

}  // namespace tributary
