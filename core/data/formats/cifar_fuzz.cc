// Fuzzes CIFAR files of each kind. A fuzzer's inputs grow slowly to the size of an example, so the
// harness supplies the pixels: byte 0 is the kind, byte 1 the number of bytes cut off the end, and
// the other bytes are labels.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/data/formats/cifar.h"
#include "core/data/source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  if (size < 2) return 0;
  const auto kind = static_cast<CifarKind>(data[0] % 3);
  const std::size_t labels_each = cifar_record_bytes(kind) - kCifarPixelBytes;
  Bytes file;
  for (std::size_t at = 2; at + labels_each <= std::min<std::size_t>(size, 66); at += labels_each) {
    file.insert(file.end(), data + at, data + at + labels_each);
    file.insert(file.end(), kCifarPixelBytes, 200);
  }
  file.resize(file.size() - std::min<std::size_t>(data[1], file.size()));
  const std::shared_ptr<const ByteSource> files[] = {memory_source(std::move(file))};
  const std::string names[] = {"input"};
  const auto opened = make_cifar(files, names, kind, {});
  if (!opened.ok()) return 0;
  if (data[1] != 0) std::abort();
  const std::uint32_t last[] = {(*opened)->count() - 1};
  Batch batch;
  if (!(*opened)->gather(last, batch).ok()) std::abort();
  if (batch.labels[0] >= cifar_classes(kind)) std::abort();
  return 0;
}
