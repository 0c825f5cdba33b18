#include "core/net/mesh/tcp/mesh_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string_view>

namespace tributary {
namespace {

// The stream of one connection: a greeting (magic, version, rank, session), and then messages, each
// of a header with two sizes, a frame and an optional payload.
constexpr std::string_view kMagic = "TRIBMESH";
constexpr std::uint32_t kVersion = 1;

Status bad_stream(std::string_view what, std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data,
                {.what = fmt::format("{} of a peer's stream", what),
                 .expected = std::move(expected),
                 .got = std::move(got),
                 .remedy = "check that the peer is a Tributary agent of this version"});
}

// Reads a little-endian number; the machine is little-endian too.
template <typename T>
T read_at(ByteSpan bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace

Bytes mesh_greeting(const MeshGreeting& greeting) {
  Bytes out(kMeshGreetingBytes);
  std::memcpy(out.data(), kMagic.data(), kMagic.size());
  std::memcpy(out.data() + 8, &kVersion, sizeof(kVersion));
  std::memcpy(out.data() + 12, &greeting.rank, sizeof(greeting.rank));
  std::memcpy(out.data() + 16, &greeting.session, sizeof(greeting.session));
  return out;
}

// Header and frame are one buffer, since both are small. The payload is sent from its own buffer
// without a copy.
Bytes mesh_head(ByteSpan frame, std::size_t payload_bytes) {
  Bytes out(kMeshHeaderBytes + frame.size());
  const auto frame_size = static_cast<std::uint32_t>(frame.size());
  const auto payload_size = static_cast<std::uint32_t>(payload_bytes);
  std::memcpy(out.data(), &frame_size, sizeof(frame_size));
  std::memcpy(out.data() + 4, &payload_size, sizeof(payload_size));
  std::ranges::copy(frame, out.begin() + kMeshHeaderBytes);
  return out;
}

// The parts refer to the message's own buffers.
std::size_t MeshOutgoing::rest(std::span<iovec, 2> parts) const {
  std::size_t count = 0;
  std::size_t skip = sent;
  for (const ByteSpan part : {ByteSpan(head), payload.view()}) {
    if (skip < part.size()) {
      parts[count++] = {.iov_base = const_cast<std::uint8_t*>(part.data() + skip),
                        .iov_len = part.size() - skip};
      skip = 0;
    } else {
      skip -= part.size();
    }
  }
  return count;
}

// Checks the magic and the version. The caller checks rank and session.
Status MeshReader::read_greeting() {
  if (std::memcmp(part_.data(), kMagic.data(), kMagic.size()) != 0) {
    return bad_stream("greeting", std::string(kMagic), "something else");
  }
  const auto version = read_at<std::uint32_t>(part_, 8);
  if (version != kVersion) {
    return bad_stream("version", fmt::format("{}", kVersion), fmt::format("{}", version));
  }
  greeting_ = {.rank = read_at<std::uint32_t>(part_, 12),
               .session = read_at<std::uint64_t>(part_, 16)};
  return {};
}

// Both sizes are checked against the link's limits before a buffer is allocated.
Status MeshReader::read_header() {
  const auto frame_bytes = read_at<std::uint32_t>(part_, 0);
  const auto payload_bytes = read_at<std::uint32_t>(part_, 4);
  if (frame_bytes == 0 || frame_bytes > frame_bytes_max_) {
    return bad_stream("frame", fmt::format("1 to {} bytes", frame_bytes_max_),
                      fmt::format("{}", frame_bytes));
  }
  if (payload_bytes > payload_bytes_max_) {
    return bad_stream("payload", fmt::format("at most {} bytes", payload_bytes_max_),
                      fmt::format("{}", payload_bytes));
  }
  payload_bytes_ = payload_bytes;
  expect(frame_bytes);
  return {};
}

// The state machine of a connection: greeting, then for each message header, frame and payload.
Result<MeshReader::Completed> MeshReader::process(std::size_t bytes) {
  assert(bytes <= part_.size() - filled_);
  filled_ += bytes;
  if (filled_ < part_.size()) return Completed::nothing_whole;
  switch (reading_) {
    case Reading::greeting:
      TRIBUTARY_TRY(read_greeting());
      reading_ = Reading::header;
      expect(kMeshHeaderBytes);
      return Completed::greeting;
    case Reading::header:
      TRIBUTARY_TRY(read_header());
      reading_ = Reading::frame;
      return Completed::nothing_whole;
    case Reading::frame:
      frame_.swap(part_);  // the frame's buffer moves out, and part_ is set anew below
      if (payload_bytes_ > 0) {
        reading_ = Reading::payload;
        part_ = pool_.take(payload_bytes_);
        filled_ = 0;
        return Completed::nothing_whole;
      }
      payload_ = {};
      break;
    case Reading::payload:
      // The payload was received into a buffer of the pool, and its slice returns it there: bytes
      // of the model are not copied on their way from the socket to the exchange.
      payload_ = pool_.share(std::move(part_));
      break;
  }
  reading_ = Reading::header;
  part_ = Bytes();
  expect(kMeshHeaderBytes);
  return Completed::message;
}

}  // namespace tributary
