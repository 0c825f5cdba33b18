#include "core/service/peers/peer_commands.h"

#include <utility>

namespace tributary {

// Wakes the link's thread, whether it waits here or in its mesh.
void PeerCommands::alert() {
  changed_.notify_one();
  if (wake_) wake_();
}

// Messages of the previous epoch are dropped: their exchange is over, and their ranks have another
// meaning now.
void PeerCommands::begin(std::optional<OpenPeers> epoch) {
  const std::lock_guard lock(mutex_);
  ++number_;
  epoch_ = std::move(epoch);
  unsent_.clear();
  alert();
}

void PeerCommands::end() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  alert();
}

void PeerCommands::send(SendToPeer message) {
  const std::lock_guard lock(mutex_);
  if (!epoch_ || unsent_.overrun_by()) return;
  const bool first = unsent_.empty();
  const bool kept = unsent_.push(std::move(message));
  if (first || !kept) alert();  // later messages are taken together with the first one
}

std::optional<PeerCommands::NextEpoch> PeerCommands::next_epoch(std::uint64_t seen) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ending_ || number_ != seen; });
  if (ending_) return std::nullopt;
  return NextEpoch{number_, epoch_};
}

// Blocks while the machine has not read what was handed out. The mesh then receives nothing, and
// TCP slows the senders down.
std::optional<PeerCommands::Work> PeerCommands::work(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  const auto over = [&] { return ending_ || number_ != number; };
  // New messages interrupt the mesh's wait, not this one.
  changed_.wait(lock, [&] { return over() || unread_.has_space(); });
  if (over()) return std::nullopt;
  return Work{.sends = unsent_.take(), .overrun_by = unsent_.overrun_by()};
}

void PeerCommands::give_up(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (number_ != number) return;  // a newer epoch has begun
  epoch_.reset();
  unsent_.clear();
}

void PeerCommands::attach(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

void PeerCommands::hand_out(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  unread_.hand_out(bytes);
}

void PeerCommands::let_go(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  unread_.let_go(bytes);
  changed_.notify_one();  // the link's thread may wait for room
}

}  // namespace tributary
