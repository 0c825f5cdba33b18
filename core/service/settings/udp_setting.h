// Binds a setting to a UDP address, IPv4:PORT. One thread, at the start.
#pragma once

#include <string>
#include <variant>

#include "core/net/udp/udp_address.h"
#include "core/service/settings/settings.h"

namespace tributary {

// `target` must outlive the settings.
inline Settings::Accept accept_udp_address(UdpAddress& target) {
  return [&target](const Settings::Value& value) -> Status {
    const auto* const text = std::get_if<std::string>(&value);
    TRIBUTARY_ASSIGN(target, UdpAddress::parse(text != nullptr ? *text : ""));
    return {};
  };
}

}  // namespace tributary
