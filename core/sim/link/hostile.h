// Messages that no correct peer sends, and damage to correct messages on a bad link. All functions
// are pure apart from the draws: the same draws give the same messages. None changes the message
// that it is given, and none fails.
#pragma once

#include <optional>

#include "core/round/common/machine/actions.h"
#include "core/sim/scenario/draws.h"

namespace tributary {

// A frame and its payload, which the message owns.
struct Message {
  Bytes frame;
  bool has_payload = false;
  PayloadSlice payload;

  std::size_t bytes() const { return frame.size() + payload.bytes.size(); }
};

// Returns the message with wrong sizes: sizes of terabytes, offsets behind the end and sometimes
// receipts for bytes that were never sent. Empty if messages of its kind contain no sizes.
std::optional<Message> lie_about_sizes(const Message& message, SeededDraws& draws);

// A message of random bytes, which may begin like a frame.
Message noise(SeededDraws& draws);

// Returns a copy with one flipped bit. Empty if the frame still opens, because then no receiver can
// detect the change. Layers above an unencrypted link cannot repair that, and on an encrypted link
// the MAC check drops the message.
std::optional<Message> flip_a_bit(const Message& message, SeededDraws& draws);

}  // namespace tributary
