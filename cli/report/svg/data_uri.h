// Embeds a file in a page as text. A pure function. The text has a third more bytes than the file.
#pragma once

#include <string>
#include <string_view>

#include "core/base/bytes/bytes.h"

namespace tributary::report {

// Returns "data:image/png;base64,…" (RFC 2397, RFC 4648).
std::string data_uri(std::string_view media_type, ByteSpan bytes);

}  // namespace tributary::report
