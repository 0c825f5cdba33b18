#include "core/round/coordinator/uploads/carried_uploads.h"

#include <utility>

namespace tributary {

void CarriedUploads::keep(const Key& key, Begun begun) { begin(uploads_[key], std::move(begun)); }

void CarriedUploads::await(const Key& key, std::uint64_t round, std::uint32_t stage,
                           std::uint64_t bytes_max) {
  Upload& upload = uploads_[key];
  if (upload.first_round == 0) upload.first_round = round;
  upload.last_round = round;
  upload.stage = stage;
  upload.bytes_max = bytes_max;
}

// Parts arrive in the order of sending, so nothing of an earlier round follows.
bool CarriedUploads::begin(Upload& upload, Begun begun) {
  upload.first_round = begun.sent_in.round + 1;
  drop_begun(upload);
  const std::uint64_t bytes = begun.payload.size();
  if (!fits(bytes)) return false;
  bytes_ += bytes;
  upload.begun = std::move(begun);
  return true;
}

bool CarriedUploads::take(const std::string& agent_id, const wire::Part& part, ByteSpan payload) {
  const auto found = uploads_.find({.agent_id = agent_id, .bucket = part.bucket()});
  if (found == uploads_.end()) return false;
  Upload& upload = found->second;
  const RoundKey sent_in = key_of(*part.id());
  if (!upload.begun || upload.begun->sent_in != sent_in || upload.begun->stage != part.stage()) {
    const std::uint64_t bytes = part.stage_bytes();
    const bool awaited = sent_in.round >= upload.first_round &&
                         sent_in.round <= upload.last_round && part.stage() == upload.stage;
    if (!awaited || bytes > upload.bytes_max) return false;
    if (!begin(upload, {.sent_in = sent_in,
                        .stage = part.stage(),
                        .encoded_round = sent_in.round,
                        .payload = Reassembly(bytes)})) {
      return false;
    }
  }
  Reassembly& kept = upload.begun->payload;
  if (!check_size(part, kept.size()).ok()) return false;
  kept.take(part.offset(), payload);
  return true;
}

std::optional<Reassembly> CarriedUploads::resume(const Key& key, std::uint64_t encoded_round,
                                                 std::uint64_t bytes) {
  const auto found = uploads_.find(key);
  if (found == uploads_.end()) return std::nullopt;
  std::optional<Begun>& begun = found->second.begun;
  if (!begun || begun->encoded_round != encoded_round || begun->payload.size() != bytes) {
    return std::nullopt;
  }
  std::optional<Reassembly> payload = std::move(begun->payload);
  begun.reset();
  bytes_ -= bytes;
  return payload;
}

const CarriedUploads::Begun* CarriedUploads::find(const Key& key) const {
  const auto found = uploads_.find(key);
  return found != uploads_.end() && found->second.begun ? &*found->second.begun : nullptr;
}

bool CarriedUploads::is_sending(const std::string& agent_id) const {
  bool begun = false;
  bool missing = false;
  auto at = uploads_.lower_bound({.agent_id = agent_id, .bucket = 0});
  for (; at != uploads_.end() && at->first.agent_id == agent_id; ++at) {
    begun |= at->second.begun.has_value();
    missing |= !at->second.begun || !at->second.begun->payload.complete();
  }
  return begun && missing;
}

bool CarriedUploads::postpone(const std::string& agent_id, std::uint64_t round) {
  return postponed_.try_emplace(agent_id, round).first->second == round;
}

void CarriedUploads::counted(const std::string& agent_id, std::uint32_t bucket) {
  postponed_.erase(agent_id);
  if (uploads_.empty()) return;
  const auto found = uploads_.find({.agent_id = agent_id, .bucket = bucket});
  if (found != uploads_.end()) erase(found);
}

void CarriedUploads::forget(const std::string& agent_id) {
  keep_only([&](const std::string& other) { return other != agent_id; });
}

CarriedUploads::Uploads::iterator CarriedUploads::erase(Uploads::iterator at) {
  drop_begun(at->second);
  return uploads_.erase(at);
}

void CarriedUploads::drop_begun(Upload& upload) {
  if (upload.begun) bytes_ -= upload.begun->payload.size();
  upload.begun.reset();
}

}  // namespace tributary
