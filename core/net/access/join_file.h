// All that one agent needs to come into a federation, in one file that its owner alone may read:
// who it is, where the coordinator is and by which key it is known, and the agent's own key pair.
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
  std::string agent_id;     // as the allow-list has it
  std::string coordinator;  // its endpoint, tcp://HOST:PORT
  PublicKey coordinator_key;
  KeyPair keys;
};

// Whether it is tcp://HOST:PORT, with a host that can be dialled.
Status check_dialled_endpoint(std::string_view endpoint);

// Of TOML the part that this takes: lines NAME = "TEXT", and comments. No text of an error holds
// what stands in quotes.
Result<JoinFile> parse_join_file(std::string_view text);

// Refuses a file that others than its owner may read or write.
Result<JoinFile> read_join_file(const std::string& path);

// A file that is there already is kept, and an error.
Status write_join_file(const std::string& path, const JoinFile& join);

}  // namespace tributary
