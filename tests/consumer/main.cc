// Sends four values through a codec of the installed library, asks it for what it must refuse (a
// codec that there is not, and a frame that is none), and opens a hub.
#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/codec/codec.h"
#include "core/codec/registry.h"
#include "core/net/zmq/hub.h"
#include "schemas/frame.h"

#include <array>
#include <iostream>

namespace {

using tributary::Result;
using tributary::Status;

Result<std::array<float, 4>> round_trip(const std::array<float, 4>& values) {
  TRIBUTARY_ASSIGN(const auto codec, tributary::make_codec("fp16"));
  tributary::Bytes payload;
  TRIBUTARY_TRY(codec->make_encoder(values.size())->encode({}, values, payload));
  std::array<float, 4> decoded{};
  TRIBUTARY_TRY(codec->decode({}, payload, decoded));
  return decoded;
}

Result<bool> open_a_hub() {
  TRIBUTARY_ASSIGN(const tributary::KeyPair keys, tributary::make_key_pair());
  TRIBUTARY_ASSIGN(const auto hub,
                   tributary::open_hub({.endpoint = "tcp://127.0.0.1:*",
                                        .keys = keys,
                                        .allowed = std::make_shared<tributary::AllowList>()}));
  return hub->encrypted();
}

}  // namespace

int main() {
  const auto decoded = round_trip({1.0F, -0.5F, 0.0F, 65504.0F});
  if (!decoded.ok()) {
    std::cerr << decoded.status().text() << '\n';
    return 1;
  }
  std::cout << "decoded:";
  for (const float value : *decoded) std::cout << ' ' << value;
  std::cout << '\n';
  std::cout << "codec: " << tributary::make_codec("fp61").status().text() << '\n';
  const auto hub = open_a_hub();
  std::cout << "hub: " << (hub.ok() && *hub ? "encrypted" : hub.status().text()) << '\n';
  std::cout << "frame: " << tributary::open_frame(tributary::ByteSpan()).status().text() << '\n';
  return 0;
}
