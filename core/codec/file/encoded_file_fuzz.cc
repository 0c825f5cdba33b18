// Decodes the input twice: unchanged, and with all checksums corrected, so that the checks behind
// the checksums run too.
#include "core/codec/file/encoded_file_testing.h"

using namespace tributary;
using namespace tributary::encoded_file_testing;

namespace {

void check(ByteSpan file) {
  std::uint64_t bytes = 0;
  const auto header = decode_file(MemorySource(file), {}, [&](ByteSpan piece) -> Status {
    bytes += piece.size();
    return {};
  });
  // A successful decoding must write exactly the values that the header states.
  if (header.ok() && bytes != header.value().values * sizeof(float)) __builtin_trap();
  if (!header.ok() && header.status().fault().what.empty()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes file(data, data + size);
  check(file);
  make_checksums_fit(file);
  check(file);
  return 0;
}
