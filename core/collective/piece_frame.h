// Frames for the pieces of an exchange (docs/wire.md). Partial sums are Preliminary and Update
// messages; pieces that are the same for all receivers are Aggregate messages. The functions are
// pure.
#pragma once

#include <cstdint>

#include "core/base/bytes/bytes.h"
#include "core/collective/exchange.h"
#include "schemas/frame_generated.h"

namespace tributary {

// Identifies an exchange: equal for all its members, and different from every other exchange.
struct ExchangeId {
  wire::RoundId round;
  std::uint64_t session = 0;  // session of the epoch's peers
};

// The frame that precedes `payload`; the payload itself is not copied.
Result<Bytes> piece_frame(const ExchangeId& id, const Piece& piece, bool last_stage,
                          ByteSpan payload);

// Checks frame and payload and that both belong to this exchange. `from` is the sender as
// authenticated by the transport. `cancelled` (a message of an earlier attempt or round) and
// `unavailable` (of a later one) are no fault of the sender. All other errors are: mismatch,
// corrupt_data and unsupported.
Result<Piece> read_piece(const ExchangeId& id, std::uint32_t from, ByteSpan frame,
                         ByteSpan payload);

}  // namespace tributary
