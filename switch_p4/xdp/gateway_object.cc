#include "switch_p4/xdp/gateway_object.h"

// TRIBUTARY_GATEWAY_OBJECT is the path of the object that the build has compiled.
asm(R"(
  .section .rodata
  .balign 16
tributary_gateway_object_begin:
  .incbin ")" TRIBUTARY_GATEWAY_OBJECT R"("
tributary_gateway_object_end:
  .previous
)");

extern "C" {
extern const std::uint8_t tributary_gateway_object_begin[];
extern const std::uint8_t tributary_gateway_object_end[];
}

namespace tributary::switch_xdp {

ByteSpan gateway_object() { return {tributary_gateway_object_begin, tributary_gateway_object_end}; }

}  // namespace tributary::switch_xdp
