// Reports the state of a daemon to systemd (the protocol of sd_notify): one datagram to
// $NOTIFY_SOCKET. A failure need not stop a daemon: the caller decides.
#pragma once

#include <string_view>

#include "core/base/status.h"

namespace tributary {

// `state` is "READY=1", "STOPPING=1" or "STATUS=...". Returns ok without doing anything if the
// environment has no NOTIFY_SOCKET, and io_error if the datagram cannot be sent.
Status notify_service_manager(std::string_view state);

}  // namespace tributary
