// A payload as it goes out: shared, cut into parts, each part's checksum taken once however many
// peers it goes to.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/checksum.h"
#include "core/round/actions.h"
#include "core/round/reassembly.h"
#include "core/round/round_key.h"
#include "schemas/frame.h"

namespace tributary {

class CutPayload {
 public:
  CutPayload() = default;
  CutPayload(SharedBytes bytes, std::uint32_t part_bytes)
      : bytes_(std::move(bytes)), layout_{.bytes = bytes_->size(), .part_bytes = part_bytes} {
    checksums_.reserve(layout_.parts());
    for (std::uint32_t part = 0; part < layout_.parts(); ++part) {
      checksums_.push_back(hash64(slice(part).bytes));
    }
  }

  const SharedBytes& bytes() const { return bytes_; }
  const PartLayout& layout() const { return layout_; }
  std::uint32_t parts() const { return layout_.parts(); }

  PayloadSlice slice(std::uint32_t part) const {
    return {.owner = bytes_,
            .bytes = ByteSpan(*bytes_).subspan(layout_.offset(part), layout_.size(part))};
  }
  std::unique_ptr<wire::PartT> describe(const RoundKey& key, std::uint32_t bucket,
                                        std::uint32_t stage, std::uint32_t part) const {
    auto wire = std::make_unique<wire::PartT>();
    wire->id = std::make_unique<wire::RoundId>(wire_id(key));
    wire->bucket = bucket;
    wire->stage = static_cast<std::uint8_t>(stage);
    wire->part = part;
    wire->parts = layout_.parts();
    wire->offset = layout_.offset(part);
    wire->stage_bytes = layout_.bytes;
    wire->payload_bytes = layout_.size(part);
    wire->payload_checksum = checksums_[part];
    return wire;
  }

 private:
  SharedBytes bytes_;
  PartLayout layout_;
  std::vector<std::uint64_t> checksums_;
};

}  // namespace tributary
