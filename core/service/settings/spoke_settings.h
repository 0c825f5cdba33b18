// The settings of a connection to a coordinator, which agents and aggregators share. docs/run.md
// describes them.
//
// One thread, at the start.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/status.h"
#include "core/net/keys/keys.h"
#include "core/net/zmq/spoke.h"
#include "core/service/settings/settings.h"

namespace tributary {

class SpokeSettings {
 public:
  std::string id;           // on the coordinator's allow-list
  std::string coordinator;  // endpoint
  bool encrypted = true;

  // Binds agent_id and link.coordinator, coordinator_key, key_file, join_file and encrypted. The
  // object must stay where it is until settle().
  void bind(Settings& settings);
  // Whether the settings name a coordinator, in one way or another.
  bool given() const { return !coordinator.empty() || !join_file_.empty(); }
  // Takes the path of a join file from the command line. Call it before settle().
  void set_join_file(const std::string& path) { join_file_ = path; }
  // After all settings are read: reads the join file and checks everything. An error names the
  // setting. A setting beside the join file takes precedence over it, so that another path to the
  // coordinator can be used; the key always comes from the join file.
  Status settle(const Settings& settings);

  // The key pair of the join file or of the key file; without encryption, a new one.
  Result<std::shared_ptr<const KeyPair>> keys() const;
  // Starts to connect. The seed varies the times between attempts.
  Result<std::unique_ptr<Spoke>> open(const KeyPair& keys, std::uint64_t seed) const;

 private:
  Status take_join_file(const Settings& settings);

  std::string coordinator_key_;
  std::string key_file_;
  std::string join_file_;
  std::optional<KeyPair> joined_keys_;  // of the join file
};

}  // namespace tributary
