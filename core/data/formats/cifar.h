// CIFAR in its binary version: examples of 32 x 32 pixels one behind the other, nothing else.
//
//   CIFAR-10     u8 label, 3072 bytes: red, green and blue plane
//   CIFAR-100    u8 coarse label, u8 fine label, then the same
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

// The files of one split, in order; `names` of the same length, for errors.
Result<std::unique_ptr<DataSet>> make_cifar(
    std::span<const std::shared_ptr<const ByteSource>> files, std::span<const std::string> names,
    CifarKind kind, const FeatureScale& scale);

}  // namespace tributary
