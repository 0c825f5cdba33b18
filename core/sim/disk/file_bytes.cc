#include "core/sim/disk/file_bytes.h"

#include <algorithm>

namespace tributary {

std::size_t FileBytes::read(std::uint64_t offset, MutableByteSpan out) const {
  if (offset >= size_) return 0;
  out = out.first(std::min<std::uint64_t>(out.size(), size_ - offset));
  for (std::size_t done = 0; done < out.size();) {
    const std::uint64_t at = (offset + done) % kBlockBytes;
    const std::size_t count = std::min<std::uint64_t>(out.size() - done, kBlockBytes - at);
    const Block& block = *blocks_[(offset + done) / kBlockBytes];
    std::copy_n(block.begin() + at, count, out.subspan(done).begin());
    done += count;
  }
  return out.size();
}

void FileBytes::write(std::uint64_t offset, ByteSpan bytes) {
  if (offset + bytes.size() > size_) resize(offset + bytes.size());
  for (std::size_t done = 0; done < bytes.size();) {
    const std::uint64_t at = (offset + done) % kBlockBytes;
    const std::size_t count = std::min<std::uint64_t>(bytes.size() - done, kBlockBytes - at);
    Block& block = *blocks_[(offset + done) / kBlockBytes];
    std::copy_n(bytes.subspan(done).begin(), count, block.begin() + at);
    done += count;
  }
}

void FileBytes::resize(std::uint64_t size) {
  const std::uint64_t blocks = (size + kBlockBytes - 1) / kBlockBytes;
  if (blocks < blocks_.size()) blocks_.resize(blocks);
  while (blocks_.size() < blocks) blocks_.push_back(std::make_unique<Block>());
  if (size < size_ && size % kBlockBytes != 0) {
    std::fill(blocks_.back()->begin() + size % kBlockBytes, blocks_.back()->end(), std::uint8_t{0});
  }
  size_ = size;
}

}  // namespace tributary
