// The agents that may connect to a coordinator. A file holds one agent per line; a running
// coordinator holds them in an AllowList, which can change while agents connect and leave.
//
//   # id        public key (Z85)                          comment
//   garage-01   rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7   the one behind the door
//
// The functions on files return not_found or io_error if the file or its folder cannot be used, and
// corrupt_data with the number of the line for a line that is malformed.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/net/keys/keys.h"

namespace tributary {

struct AllowedAgent {
  std::string id;  // 1 to 64 letters, digits, dots, dashes and underscores
  PublicKey key;
  std::string comment = {};
};

// Returns invalid_argument if `id` cannot be the id of an agent. An id is also used as a file name
// and as an argument of commands, so it must not begin with a dot or a dash.
Status check_agent_id(std::string_view id);

// Returns corrupt_data if a line is malformed or if an id or a key appears twice, and
// resource_exhausted if the list has more than wire::kMembersMax agents.
Result<std::vector<AllowedAgent>> parse_allow_list(std::string_view text);

// Reads and parses a file of at most 4 MiB. Returns invalid_argument if anyone but its owner may
// write the file, because a user who can write it decides which agents may connect.
Result<std::vector<AllowedAgent>> read_allow_file(const std::string& path);

// Adds one line and leaves all other lines unchanged. Creates the file if it does not exist.
// Returns already_exists if the id or the key is already on the list. Several processes may call it
// at the same time: each holds a lock on the folder and replaces the file atomically.
Status allow_in_file(const std::string& path, const AllowedAgent& agent);

// Removes the agent's line and returns the removed agent. Returns not_found if no line has this id.
// Safe against other processes, as allow_in_file() is.
Result<AllowedAgent> revoke_in_file(const std::string& path, std::string_view id);

// The agents that may connect now, by their public key. Thread-safe: any thread may read and change
// it.
class AllowList {
 public:
  AllowList() = default;
  explicit AllowList(const std::vector<AllowedAgent>& agents) { replace(agents); }

  void replace(const std::vector<AllowedAgent>& agents);
  void allow(const PublicKey& key, std::string id);
  void revoke(const PublicKey& key);

  bool allows(const PublicKey& key) const;
  // The id that belongs to this key; empty if the key is not on the list.
  std::string id_of(const PublicKey& key) const;
  // The ids of all keys, in order.
  std::vector<std::string> ids() const;
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<PublicKey, std::string, PublicKeyHash> ids_;
};

}  // namespace tributary
