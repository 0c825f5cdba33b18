// The compiled XDP program, which the build puts into the loader. Immutable; valid for ever.
#pragma once

#include "core/base/bytes/bytes.h"

namespace tributary::switch_xdp {

// An ELF object with BTF, for libbpf.
ByteSpan gateway_object();

}  // namespace tributary::switch_xdp
