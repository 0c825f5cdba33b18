// How messages lie in a stream of bytes between peers: first, once, who speaks; then messages.
//
//   greeting   8 bytes "TRIBMESH", u32 version (1), u32 rank, u64 session
//   welcome    one byte, the other way: it may go on
//   message    u32 bytes of frame, u32 bytes of payload; then both
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <optional>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/net/buffer_pool.h"
#include "core/net/shared_slice.h"

namespace tributary {

inline constexpr std::size_t kMeshGreetingBytes = 24;
inline constexpr std::size_t kMeshHeaderBytes = 8;
inline constexpr std::uint8_t kMeshWelcome = 0x57;

struct MeshGreeting {
  std::uint32_t rank = 0;
  std::uint64_t session = 0;
};

Bytes mesh_greeting(const MeshGreeting& greeting);
// Header and frame; the payload follows as it is.
Bytes mesh_head(ByteSpan frame, std::size_t payload_bytes);

// A message on its way out, of which the socket takes a bit at a time.
struct MeshOutgoing {
  Bytes head;
  SharedSlice payload = {};
  std::size_t sent = 0;

  std::size_t bytes() const { return head.size() + payload.size(); }
  bool done() const { return sent == bytes(); }
  // What is left of it, as parts. Returns how many.
  std::size_t rest(std::span<iovec, 2> parts) const;
};

// Says where the next bytes are to be read to, so that a payload is where it belongs at once.
class MeshReader {
 public:
  MeshReader(std::size_t frame_bytes_max, std::size_t payload_bytes_max, BufferPool& pool)
      : frame_bytes_max_(frame_bytes_max), payload_bytes_max_(payload_bytes_max), pool_(pool) {
    expect(kMeshGreetingBytes);
  }

  // Never empty. What is behind it belongs to the part after it.
  MutableByteSpan wanted() { return MutableByteSpan(part_).subspan(filled_); }

  enum class Came : std::uint8_t { nothing_whole, greeting, message };
  // So many bytes of wanted() are there. Errors are for good.
  Result<Came> came(std::size_t bytes);

  // A payload has begun and is not whole.
  bool in_payload() const { return reading_ == Reading::payload; }

  const std::optional<MeshGreeting>& greeting() const { return greeting_; }
  // Of the last message; to be taken before more comes.
  Bytes take_frame() { return std::move(frame_); }
  SharedSlice take_payload() { return std::move(payload_); }

 private:
  enum class Reading : std::uint8_t { greeting, header, frame, payload };

  void expect(std::size_t bytes) {
    part_.resize(bytes);
    filled_ = 0;
  }
  Status read_greeting();
  Status read_header();

  const std::size_t frame_bytes_max_;
  const std::size_t payload_bytes_max_;
  BufferPool& pool_;
  Reading reading_ = Reading::greeting;
  Bytes part_;
  std::size_t filled_ = 0;
  std::size_t payload_bytes_ = 0;
  std::optional<MeshGreeting> greeting_;
  Bytes frame_;
  SharedSlice payload_;
};

}  // namespace tributary
