#include "core/round/coordinator/uploads/carried_uploads.h"

#include <utility>

namespace tributary {

void CarriedUploads::keep(const IncomingKey& key, const RoundKey& sent_in,
                          std::uint64_t encoded_round, Reassembly payload) {
  erase(key);
  if (bytes_ + payload.size() > bytes_max_) return;
  bytes_ += payload.size();
  uploads_.emplace(
      key,
      Upload{.sent_in = sent_in, .encoded_round = encoded_round, .payload = std::move(payload)});
}

bool CarriedUploads::take(const IncomingKey& key, const wire::Part& part, ByteSpan payload) {
  const auto found = uploads_.find(key);
  if (found == uploads_.end() || found->second.sent_in != key_of(*part.id())) return false;
  Reassembly& kept = found->second.payload;
  if (!check_size(part, kept.size()).ok()) return false;
  kept.take(part.offset(), payload);
  return true;
}

std::optional<Reassembly> CarriedUploads::resume(const IncomingKey& key,
                                                 std::uint64_t encoded_round, std::uint64_t bytes) {
  const auto found = uploads_.find(key);
  if (found == uploads_.end() || found->second.encoded_round != encoded_round ||
      found->second.payload.size() != bytes) {
    return std::nullopt;
  }
  Reassembly payload = std::move(found->second.payload);
  bytes_ -= bytes;
  uploads_.erase(found);
  return payload;
}

void CarriedUploads::clear() {
  uploads_.clear();
  bytes_ = 0;
}

void CarriedUploads::erase(const IncomingKey& key) {
  const auto found = uploads_.find(key);
  if (found == uploads_.end()) return;
  bytes_ -= found->second.payload.size();
  uploads_.erase(found);
}

}  // namespace tributary
