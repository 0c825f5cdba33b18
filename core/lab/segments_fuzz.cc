// Fuzzes cutting: it reads and writes nothing beyond the packet, and the result is no larger than
// the packet.
#include <cstdlib>

#include "core/lab/segments.h"
#include "core/lab/wire_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto require = [](bool condition) {
    if (!condition) std::abort();
  };
  if (size < 1) return 0;
  const std::uint8_t pattern = data[0];
  const ByteSpan packet(data + 1, size - 1);
  const WireSize wire = wire_size(packet);
  require(wire.segments >= 1 && wire.segments <= packet.size() + 1);
  std::vector<bool> lost(wire.segments);
  for (std::size_t i = 0; i < lost.size(); ++i) lost[i] = (pattern >> i % 8 & 1) != 0;
  std::uint64_t segments = 0;
  for (const Bytes& piece : without_segments(packet, lost)) segments += wire_size(piece).segments;
  require(segments <= wire.segments);
  return 0;
}
