#include "core/round/common/machine/part_message.h"

#include "schemas/payload.h"

namespace tributary {

std::unique_ptr<wire::PartT> describe_part(const RoundKey& key, std::uint32_t bucket,
                                           std::uint32_t stage, std::uint64_t payload_bytes,
                                           std::uint64_t offset, const PayloadSlice& slice) {
  const PayloadClaim claim = claim_for(slice.bytes);
  auto part = std::make_unique<wire::PartT>();
  part->id = std::make_unique<wire::RoundId>(wire_id(key));
  part->bucket = bucket;
  part->stage = static_cast<std::uint8_t>(stage);
  part->offset = offset;
  part->stage_bytes = payload_bytes;
  part->payload_bytes = claim.bytes;
  part->payload_checksum = claim.checksum;
  return part;
}

}  // namespace tributary
