// Messages that no honest peer would send, and what happens to honest ones on a bad line.
#pragma once

#include <optional>

#include "core/round/common/machine/actions.h"
#include "core/sim/scenario/draws.h"

namespace tributary {

struct Message {
  Bytes frame;
  bool has_payload = false;
  PayloadSlice payload;

  std::size_t bytes() const { return frame.size() + payload.bytes.size(); }
};

// The same message with other sizes in it: claims of terabytes, of offsets behind the end, and, in
// a part of them, of having received what was never sent. Nothing where its kind claims no sizes.
std::optional<Message> lie_about_sizes(const Message& message, SeededDraws& draws);

// Random bytes, and bytes that begin like a frame.
Message noise(SeededDraws& draws);

// Flips one bit, in a copy. Nothing where the result is a frame that opens, as no receiver can tell
// it from an honest one: links without encryption cannot have this repaired above them, and the MAC
// of those with encryption drops the message.
std::optional<Message> flip_a_bit(const Message& message, SeededDraws& draws);

}  // namespace tributary
