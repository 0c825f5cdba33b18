// Which agents may come in. A file holds them, one on each line; a running coordinator holds them
// in an AllowList, which can be changed while peers come and go.
//
//   # id        public key (Z85)                          comment
//   garage-01   rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7   the one behind the door
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
  std::string id;  // letters, digits, dot, dash and underscore; 64 at most
  PublicKey key;
  std::string comment = {};
};

// Whether an agent may be called that.
Status check_agent_id(std::string_view id);

// Neither an id nor a key may be there twice.
Result<std::vector<AllowedAgent>> parse_allow_list(std::string_view text);

// A file that anybody but its owner may write is refused: who writes it decides who comes in.
Result<std::vector<AllowedAgent>> read_allow_file(const std::string& path);

// Adds a line; makes the file if there is none. Other lines stay as they are. Several processes may
// do this at once.
Status allow_in_file(const std::string& path, const AllowedAgent& agent);

// Takes the agent's line out and says which key it was.
Result<AllowedAgent> revoke_in_file(const std::string& path, std::string_view id);

// Any thread may ask and change it.
class AllowList {
 public:
  AllowList() = default;
  explicit AllowList(const std::vector<AllowedAgent>& agents) { replace(agents); }

  void replace(const std::vector<AllowedAgent>& agents);
  void allow(const PublicKey& key, std::string id);
  void revoke(const PublicKey& key);

  bool allows(const PublicKey& key) const;
  // The id under which this key is allowed; empty where it is not.
  std::string id_of(const PublicKey& key) const;
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<PublicKey, std::string, PublicKeyHash> ids_;
};

}  // namespace tributary
