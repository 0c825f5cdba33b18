// Reader and writer of IDX, the format of MNIST and related data sets: a big-endian header and an
// array of unsigned bytes.
//
//   byte 0  u16  zero
//        2  u8   type of the values: 8, unsigned bytes
//        3  u8   number of dimensions
//        4  u32  each dimension; the first one is the number of examples
//   then the values in row-major order, and nothing after them
//
// An image file with three dimensions has examples of one channel. With four, the second dimension
// is the channel. With two, examples are vectors (one channel of height 1 is inserted before them).
#pragma once

#include <memory>
#include <vector>

#include "core/base/bytes/byte_source.h"
#include "core/data/formats/stored_examples.h"

namespace tributary {

// Dimensions of the array, and the position of its values.
struct IdxHeader {
  std::vector<std::uint32_t> dims;
  std::uint64_t bytes = 0;  // offset of the first value
};

struct IdxOptions {
  std::uint32_t classes = 0;  // 0: the highest label plus one, but at least 10
  FeatureScale scale = {};
};

// Reads and checks the header. The source must be exactly as long as the header says. Fails with
// corrupt_data, unsupported (values other than bytes) or the error of reading.
Result<IdxHeader> read_idx_header(const ByteSource& source);

// Opens a pair of image and label files. Labels are read into memory; pixels are read when a batch
// needs them. Fails as read_idx_header() does, and with mismatch if the two files do not belong
// together or a label is not below `classes`.
Result<std::unique_ptr<DataSet>> make_idx(std::shared_ptr<const ByteSource> images,
                                          const ByteSource& labels, const IdxOptions& options);

// The header for a file of bytes with these dimensions, at most 255 of them.
Bytes idx_header(std::span<const std::uint32_t> dims);

}  // namespace tributary
