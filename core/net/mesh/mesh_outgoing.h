// A message on its way out, of which the socket takes a bit at a time. For the files of this
// folder.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/net/shared_slice.h"

namespace tributary {

struct MeshOutgoing {
  Bytes head;
  SharedSlice payload;
  std::size_t sent = 0;

  std::size_t bytes() const { return head.size() + payload.size(); }
  // What is left of it, as parts.
  std::size_t rest(std::span<iovec, 2> parts) const {
    std::size_t count = 0;
    std::size_t skip = sent;
    for (const ByteSpan part : {ByteSpan(head), payload.view()}) {
      if (skip < part.size()) {
        parts[count++] = {.iov_base = const_cast<std::uint8_t*>(part.data() + skip),
                          .iov_len = part.size() - skip};
        skip = 0;
      } else {
        skip -= part.size();
      }
    }
    return count;
  }
};

}  // namespace tributary
