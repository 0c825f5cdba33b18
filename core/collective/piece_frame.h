// Pieces of an exchange as they cross the wire (docs/wire.md): partial sums as Preliminary and
// Update, everything that is the same for all as Aggregate.
#pragma once

#include <cstdint>

#include "core/base/bytes/bytes.h"
#include "core/collective/exchange.h"
#include "schemas/frame_generated.h"

namespace tributary {

// Whose exchange it is: the same for all its members, and for no other.
struct ExchangeId {
  wire::RoundId round;
  std::uint64_t session = 0;  // of the epoch's peers
};

Result<Bytes> piece_frame(const ExchangeId& id, const Piece& piece, bool last_stage,
                          ByteSpan payload);

// Checks frame and payload and that they belong to this exchange; `from` is whom the transport has
// proven to have sent them. Nothing is wrong with the sender of a message that is late
// (`cancelled`: of an earlier attempt or round) or early (`unavailable`: of a later one).
Result<Piece> read_piece(const ExchangeId& id, std::uint32_t from, ByteSpan frame,
                         ByteSpan payload);

}  // namespace tributary
