// A client at the coordinator's port that speaks the protocol by hand and may violate it. Waiting
// functions give up after kPatience. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/net/keys/keys.h"
#include "core/net/transport.h"
#include "core/round/common/machine/round_key.h"
#include "schemas/frame.h"
#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {

// Returns the Hello of a correct agent, for tests to modify.
wire::HelloT hello_of(const std::string& agent_id);
Bytes bytes_of_frame(wire::FrameT frame, std::uint64_t session = 0, std::uint64_t message_id = 0);
// Returns an Update with a single part for this round, with the correct checksum of the payload.
Bytes update_of(const RoundKey& round, std::uint64_t session, ByteSpan payload);

class Guest {
 public:
  // The guest has no limits for frames and payloads, so it can send what agents may not.
  Guest(const Federation& federation, const KeyPair& keys, bool encrypted = true);

  bool connect();  // waits for the connection
  bool connected() const { return connection_ != 0; }
  // Returns false if the connection has been closed.
  bool send(Bytes frame, Bytes payload = {});
  // Sends a Hello and returns the session; 0 if it was refused.
  std::uint64_t join(const std::string& agent_id);
  // Waits for the next message of this kind. Other messages are dropped.
  std::optional<wire::FrameT> hear(wire::Message kind);
  bool receives_the_end();  // waits for the disconnection
  // Returns the next message as bytes; empty if none has arrived.
  std::optional<Bytes> overhear();

 private:
  std::optional<LinkEvent> next(std::chrono::nanoseconds patience);

  // The production transport; only the messages are written by hand.
  std::unique_ptr<Transport> spoke_;
  ConnectionId connection_ = 0;
};

}  // namespace tributary::end_to_end
