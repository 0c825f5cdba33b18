// Somebody at the coordinator's port who speaks the protocol by hand, with every liberty.
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

// The Hello of a well-behaved agent, to be spoilt.
wire::HelloT hello_of(const std::string& agent_id);
Bytes bytes_of_frame(wire::FrameT frame, std::uint64_t session = 0, std::uint64_t message_id = 0);
// Of one part, said to be for this round, with a claim for this payload.
Bytes update_of(const RoundKey& round, std::uint64_t session, ByteSpan payload);

class Guest {
 public:
  // Sends what agents may not, too: parts of any size.
  Guest(const Federation& federation, const KeyPair& keys, bool encrypted = true);

  bool connect();  // waits
  bool connected() const { return connection_ != 0; }
  // False: there is no connection any more.
  bool send(Bytes frame, Bytes payload = {});
  // Says Hello; the session, 0: it was refused.
  std::uint64_t join(const std::string& agent_id);
  // The next message of a kind, waiting for it; nothing else is kept.
  std::optional<wire::FrameT> hear(wire::Message kind);
  bool hears_the_end();  // waits
  // The next message as it came, or nothing for now.
  std::optional<Bytes> overhear();

 private:
  std::optional<LinkEvent> next(std::chrono::nanoseconds patience);

  std::unique_ptr<Transport> spoke_;
  ConnectionId connection_ = 0;
};

}  // namespace tributary::end_to_end
