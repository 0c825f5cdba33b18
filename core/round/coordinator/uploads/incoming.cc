#include "core/round/coordinator/uploads/incoming.h"

#include <utility>

namespace tributary {

Reassembly* Incoming::find(const IncomingKey& key) {
  const auto found = places_.find(key);
  return found == places_.end() ? nullptr : &found->second;
}

Reassembly* Incoming::find_or_admit(const IncomingKey& key, std::uint64_t bytes) {
  if (Reassembly* place = find(key)) return place;
  if (!fits(bytes)) {
    // A payload keeps its place in the queue if its agent announces it again.
    if (waiting_.insert_or_assign(key, bytes).second) queue_.push_back(key);
    return nullptr;
  }
  waiting_.erase(key);
  bytes_ += bytes;
  return &places_.emplace(key, Reassembly(bytes)).first->second;
}

Reassembly& Incoming::put(const IncomingKey& key, Reassembly payload) {
  erase(key);
  bytes_ += payload.size();
  return places_.emplace(key, std::move(payload)).first->second;
}

std::optional<Reassembly> Incoming::release(const IncomingKey& key) {
  const auto found = places_.find(key);
  if (found == places_.end()) return std::nullopt;
  Reassembly payload = std::move(found->second);
  bytes_ -= payload.size();
  places_.erase(found);
  return payload;
}

void Incoming::erase(const IncomingKey& key) {
  waiting_.erase(key);
  const auto found = places_.find(key);
  if (found == places_.end()) return;
  bytes_ -= found->second.size();
  places_.erase(found);
}

void Incoming::erase_stage(std::uint32_t bucket) {
  const auto of_stage = [&](const auto& item) {
    return item.first.bucket == bucket && !item.first.standalone;
  };
  auto at = places_.lower_bound({.bucket = bucket, .member = 0});
  while (at != places_.end() && at->first.bucket == bucket) {
    const auto next = std::next(at);
    if (of_stage(*at)) erase(at->first);
    at = next;
  }
  std::erase_if(waiting_, of_stage);
}

void Incoming::erase_member(std::uint32_t member) {
  std::erase_if(waiting_, [&](const auto& item) { return item.first.member == member; });
  for (auto at = places_.begin(); at != places_.end();) {
    if (at->first.member == member) {
      bytes_ -= at->second.size();
      at = places_.erase(at);
    } else {
      ++at;
    }
  }
}

void Incoming::clear() {
  places_.clear();
  waiting_.clear();
  queue_.clear();
  bytes_ = 0;
}

// Keys in the queue whose payload does not wait any more are skipped. The memory is reserved before
// the call is sent, so a called agent always finds a place.
std::optional<IncomingKey> Incoming::call_next() {
  while (!queue_.empty()) {
    const IncomingKey key = queue_.front();
    const auto waiting = waiting_.find(key);
    if (waiting == waiting_.end()) {
      queue_.pop_front();
      continue;
    }
    const std::uint64_t bytes = waiting->second;
    // A smaller payload behind it must wait too, or a large payload might wait forever.
    if (!fits(bytes)) return std::nullopt;
    queue_.pop_front();
    find_or_admit(key, bytes);
    return key;
  }
  return std::nullopt;
}

}  // namespace tributary
