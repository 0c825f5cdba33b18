// As libzmq settings: what the sockets of this folder have in common.
#pragma once

#include <string_view>

#include "core/net/zmq/link_options.h"
#include "core/net/zmq/zmq_socket.h"

namespace tributary {

Status configure(ZmqSocket& socket, const LinkLimits& limits, const LinkTimes& times);

// The side that is called, whose gate is guarded under `domain`; and the side that calls.
Status serve_with_curve(ZmqSocket& socket, const KeyPair& keys, std::string_view domain);
Status call_with_curve(ZmqSocket& socket, const KeyPair& keys, const PublicKey& server);

}  // namespace tributary
