// IDX, the format of MNIST and its family: big-endian, an array of unsigned bytes.
//
//   byte 0  u16  zero
//        2  u8   type of the values: 8, unsigned bytes
//        3  u8   number of dimensions
//        4  u32  each dimension; the first one counts the examples
//   then the values, in row-major order, and nothing behind them
//
// An image file of three dimensions holds examples of one channel; of four, the second dimension is
// the channel; of two, examples are vectors.
#pragma once

#include <memory>
#include <vector>

#include "core/base/bytes/byte_source.h"
#include "core/data/formats/stored_examples.h"

namespace tributary {

struct IdxHeader {
  std::vector<std::uint32_t> dims;
  std::uint64_t bytes = 0;  // where the values begin
};

struct IdxOptions {
  std::uint32_t classes = 0;  // 0: the highest label and one, at least 10
  FeatureScale scale = {};
};

// The header, after a check that the source is exactly as long as it says.
Result<IdxHeader> read_idx_header(const ByteSource& source);

Result<std::unique_ptr<DataSet>> make_idx(std::shared_ptr<const ByteSource> images,
                                          const ByteSource& labels, const IdxOptions& options);

// The header of a file to be written.
Bytes idx_header(std::span<const std::uint32_t> dims);

}  // namespace tributary
