// Fuzzes the pieces that a peer may send: a frame and the payload after it.
#include <cstdlib>

#include "core/collective/piece_frame.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  if (size < 2) return 0;
  const std::size_t frame = std::min<std::size_t>(size - 2, data[0] + 256u * data[1]);
  const ByteSpan bytes(data + 2, size - 2);
  const ExchangeId id = {.round = wire::RoundId(7, 5, 2, 1), .session = 99};
  const Result<Piece> piece = read_piece(id, 1, bytes.first(frame), bytes.subspan(frame));
  if (!piece.ok() && piece.status().text().empty()) std::abort();
  return 0;
}
