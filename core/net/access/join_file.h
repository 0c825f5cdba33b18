// The file with everything that one agent needs to join a federation: its id, the coordinator's
// address and public key, and the agent's own key pair. Only its owner may read it.
//
//   agent_id = "garage-01"
//   coordinator = "tcp://coordinator.lan:4640"
//   coordinator_key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
//   public_key = "..."
//   secret_key = "..."
#pragma once

#include <string>
#include <string_view>

#include "core/net/keys/keys.h"

namespace tributary {

struct JoinFile {
  std::string agent_id;     // the id on the coordinator's allow-list
  std::string coordinator;  // the coordinator's endpoint, tcp://HOST:PORT
  PublicKey coordinator_key;
  KeyPair keys;
};

// Returns invalid_argument unless `endpoint` is tcp://HOST:PORT with a host that an agent can
// connect to.
Status check_dialled_endpoint(std::string_view endpoint);
// Returns invalid_argument unless `endpoint` is ipc://PATH, or tcp://ADDRESS:PORT with a port up to
// 65535; port 0 and "*" stand for any free port.
Status check_listening_endpoint(std::string_view endpoint);

// Parses the subset of TOML that a join file uses: lines NAME = "TEXT" and comments. Returns
// corrupt_data with the line or the name that is wrong, and invalid_argument for a text that is not
// an id, an endpoint or a key. No error text contains a quoted text of the file, so that a secret
// key never reaches a log.
Result<JoinFile> parse_join_file(std::string_view text);

// Reads and parses a file. Returns not_found with advice if the file does not exist, and
// invalid_argument if anyone but its owner may read or write it.
Result<JoinFile> read_join_file(const std::string& path);

// Writes a file that only its owner may read. Returns already_exists if the file exists, and leaves
// it unchanged.
Status write_join_file(const std::string& path, const JoinFile& join);

}  // namespace tributary
