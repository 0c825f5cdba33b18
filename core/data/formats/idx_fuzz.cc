// Fuzzes a pair of IDX files: the first byte is the number of bytes that belong to the labels. A
// pair that opens must be readable to its last example, with labels below the number of classes.
#include <algorithm>
#include <cstdlib>

#include "core/data/formats/idx.h"
#include "core/data/source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  if (size == 0) return 0;
  const ByteSpan input = ByteSpan(data, size).subspan(1);
  const ByteSpan labels = input.first(std::min<std::size_t>(data[0], input.size()));
  const ByteSpan images = input.subspan(labels.size());
  const auto opened = make_idx(memory_source(Bytes(images.begin(), images.end())),
                               *memory_source(Bytes(labels.begin(), labels.end())), {});
  if (!opened.ok() || (*opened)->count() == 0) return 0;
  const std::uint32_t ends[] = {0, (*opened)->count() - 1};
  Batch batch;
  if (!(*opened)->gather(ends, batch).ok()) std::abort();
  if (batch.features.size() != 2 * (*opened)->shape().values()) std::abort();
  for (const std::int64_t label : batch.labels) {
    if (label < 0 || label >= (*opened)->shape().classes) std::abort();
  }
  return 0;
}
