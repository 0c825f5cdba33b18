// Loader of the binary version of CIFAR: records of 32 x 32 pixels one after another, without a
// header.
//
//   CIFAR-10     u8 label, 3072 bytes: red, green and blue plane
//   CIFAR-100    u8 coarse label, u8 fine label, then the same 3072 bytes
//
// Opening reads every file once to collect the labels; pixels are read when a batch needs them.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/base/bytes/byte_source.h"
#include "core/data/formats/stored_examples.h"

namespace tributary {

enum class CifarKind : std::uint8_t { cifar10, cifar100_fine, cifar100_coarse };

inline constexpr std::uint32_t kCifarSide = 32;
inline constexpr std::uint32_t kCifarPixelBytes = 3 * kCifarSide * kCifarSide;

constexpr std::uint32_t cifar_record_bytes(CifarKind kind) {
  return kCifarPixelBytes + (kind == CifarKind::cifar10 ? 1 : 2);
}
constexpr std::uint32_t cifar_classes(CifarKind kind) {
  return kind == CifarKind::cifar10 ? 10 : kind == CifarKind::cifar100_fine ? 100 : 20;
}

// Opens the files of one split, in order. `names` has the same length and is used in errors. Fails
// with corrupt_data (a size that is no multiple of the record), mismatch (a label out of range),
// resource_exhausted (more than 2^32 - 1 examples), or the error of reading.
Result<std::unique_ptr<DataSet>> make_cifar(
    std::span<const std::shared_ptr<const ByteSource>> files, std::span<const std::string> names,
    CifarKind kind, const FeatureScale& scale);

}  // namespace tributary
