// Fuzzes files: an input is refused, or the model is the same after writing and reading it again.
#include <cstdlib>
#include <cstring>

#include "core/train/model/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const Result<Safetensors> read = read_safetensors({data, size});
  if (!read.ok()) return 0;
  const Result<Bytes> written = write_safetensors(read->layers, read->values, read->metadata);
  if (!written.ok()) std::abort();
  const Result<Safetensors> again = read_safetensors(*written);
  if (!again.ok() || again->layers.hash() != read->layers.hash()) std::abort();
  if (again->metadata != read->metadata || again->values.size() != read->values.size()) {
    std::abort();
  }
  if (!read->values.empty() && std::memcmp(again->values.data(), read->values.data(),
                                           read->values.size() * sizeof(float)) != 0) {
    std::abort();
  }
  return 0;
}
