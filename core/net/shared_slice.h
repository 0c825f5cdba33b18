// A reference-counted, immutable range of bytes. A payload that is sent to a thousand peers is in
// memory once, and a part of it needs no copy. Copies of a slice may be used on different threads.
//
// The bytes must not change after the slice was made. A slice keeps the whole buffer in memory,
// however small its part is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "core/base/bytes/bytes.h"

namespace tributary {

class SharedSlice {
 public:
  SharedSlice() = default;
  SharedSlice(Bytes bytes) {
    const auto owner = std::make_shared<const Bytes>(std::move(bytes));
    view_ = *owner;
    owner_ = owner;
  }
  // `owner` keeps `view` alive. It is released on the thread that drops the last reference.
  SharedSlice(std::shared_ptr<const void> owner, ByteSpan view)
      : owner_(std::move(owner)), view_(view) {}

  ByteSpan view() const { return view_; }
  std::size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }

  // Returns the part from `offset` on, cut to the bytes that exist.
  SharedSlice part(std::size_t offset, std::size_t count) const {
    offset = std::min(offset, view_.size());
    return {owner_, view_.subspan(offset, std::min(count, view_.size() - offset))};
  }

 private:
  std::shared_ptr<const void> owner_;
  ByteSpan view_;
};

}  // namespace tributary
