// The libzmq settings that all sockets of this folder share. Set them before the socket connects or
// binds.
//
// Fails with io_error if libzmq lacks an option. The secret key is copied into libzmq, which keeps
// it as long as the socket.
#pragma once

#include <string_view>

#include "core/net/zmq/link_options.h"
#include "core/net/zmq/zmq_socket.h"

namespace tributary {

// Limits, time limits and keep-alives.
Status configure(ZmqSocket& socket, const LinkLimits& limits, const LinkTimes& times);

// CURVE on the accepting side, whose requests the gate answers under `domain`, and on the
// connecting side, which accepts only `server` at the other end.
Status serve_with_curve(ZmqSocket& socket, const KeyPair& keys, std::string_view domain);
Status call_with_curve(ZmqSocket& socket, const KeyPair& keys, const PublicKey& server);

}  // namespace tributary
