// Fuzz target: the byte stream of a peer, which anyone who can connect may send, cut at any point.
#include <algorithm>
#include <cstdlib>

#include "core/net/mesh/tcp/mesh_stream.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  static BufferPool pool(1u << 20);
  if (size == 0) return 0;
  const std::size_t step = std::size_t{1} + data[0];
  ByteSpan bytes(data + 1, size - 1);
  MeshReader reader(200, 5000, pool);
  while (!bytes.empty()) {
    const MutableByteSpan space = reader.unfilled();
    if (space.empty() || space.size() > 5000) std::abort();
    const std::size_t count = std::min({space.size(), bytes.size(), step});
    std::copy_n(bytes.begin(), count, space.begin());
    bytes = bytes.subspan(count);
    const Result<MeshReader::Completed> completed = reader.process(count);
    if (!completed.ok()) return 0;
    if (*completed != MeshReader::Completed::message) continue;
    if (!reader.greeting()) std::abort();
    if (reader.take_frame().size() > 200 || reader.take_payload().size() > 5000) std::abort();
  }
  return 0;
}
