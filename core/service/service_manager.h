// What systemd wants to know of a service (sd_notify's protocol): a datagram to $NOTIFY_SOCKET.
#pragma once

#include <string_view>

#include "core/base/status.h"

namespace tributary {

// "READY=1", "STOPPING=1", "STATUS=...". Nothing is done, and that is fine, where nobody asked.
Status tell_service_manager(std::string_view state);

}  // namespace tributary
