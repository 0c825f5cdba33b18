// Fuzzes spec strings: an accepted string must print its canonical form, and that form must parse
// to the same parameters.
#include <cstdlib>

#include "core/codec/payload.h"
#include "core/codec/registry.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto codec = make_codec({reinterpret_cast<const char*>(data), size});
  if (!codec.ok()) return 0;
  const auto again = make_codec((*codec)->spec());
  if (!again.ok() || (*again)->spec() != (*codec)->spec()) std::abort();
  if ((*codec)->spec().size() > kSpecBytesMax) std::abort();
  return 0;
}
