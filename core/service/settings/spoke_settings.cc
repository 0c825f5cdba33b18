#include "core/service/settings/spoke_settings.h"

#include <utility>

#include "core/net/access/allow_list.h"
#include "core/net/access/join_file.h"
#include "core/service/settings/common_settings.h"

namespace tributary {

void SpokeSettings::bind(Settings& settings) {
  settings.text("agent_id", id);
  settings.text("link.coordinator", coordinator);
  settings.text("link.coordinator_key", coordinator_key_);
  settings.text("link.key_file", key_file_);
  settings.text("link.join_file", join_file_);
  settings.flag("link.encrypted", encrypted);
}

Status SpokeSettings::take_join_file(const Settings& settings) {
  if (join_file_.empty()) return {};
  if (!key_file_.empty()) {
    return Status(StatusCode::invalid_argument,
                  {.what = "setting link.key_file",
                   .expected = "a key file or a join file, not both",
                   .got = "both",
                   .remedy = "the join file holds a key pair: leave link.key_file out"});
  }
  TRIBUTARY_ASSIGN(JoinFile join, read_join_file(join_file_));
  if (!settings.given("agent_id")) id = join.agent_id;
  if (!settings.given("link.coordinator")) coordinator = join.coordinator;
  if (!settings.given("link.coordinator_key")) coordinator_key_ = key_text(join.coordinator_key);
  joined_keys_ = std::move(join.keys);
  return {};
}

Status SpokeSettings::settle(const Settings& settings) {
  TRIBUTARY_TRY(take_join_file(settings));
  if (id.empty()) {
    return settings.missing(
        "agent_id", "the id under which the coordinator allows this agent; a join file has it");
  }
  if (coordinator.empty()) {
    return settings.missing("link.coordinator", "for example tcp://coordinator.lan:4640");
  }
  TRIBUTARY_TRY(check_agent_id(id).at("setting agent_id"));
  if (!coordinator.starts_with("ipc://")) {
    TRIBUTARY_TRY(check_dialled_endpoint(coordinator).at("setting link.coordinator"));
  }
  if (!encrypted) return {};
  if (key_file_.empty() && !joined_keys_) {
    return settings.missing("link.join_file",
                            "'tributary keys join' makes one where the coordinator runs");
  }
  return parse_public_key(coordinator_key_).status().at("setting link.coordinator_key");
}

Result<std::shared_ptr<const KeyPair>> SpokeSettings::keys() const {
  if (joined_keys_) return std::make_shared<const KeyPair>(*joined_keys_);
  TRIBUTARY_ASSIGN(KeyPair pair, keys_for(key_file_, encrypted));
  return std::make_shared<const KeyPair>(std::move(pair));
}

Result<std::unique_ptr<Spoke>> SpokeSettings::open(const KeyPair& keys, std::uint64_t seed) const {
  PublicKey hub;
  if (encrypted) {
    TRIBUTARY_ASSIGN(hub, parse_public_key(coordinator_key_));
  }
  return open_spoke(
      {.endpoint = coordinator, .keys = keys, .hub = hub, .encrypted = encrypted, .seed = seed});
}

}  // namespace tributary
