// The format of a byte stream between peers. A connection begins with one greeting that identifies
// the sender. Messages follow. All numbers are little-endian.
//
//   greeting   8 bytes "TRIBMESH", u32 version (1), u32 rank, u64 session
//   welcome    one byte from the receiver to the sender: messages may follow
//   message    u32 size of the frame, u32 size of the payload (bytes), then frame and payload
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

// The sender's rank and the epoch's session, which the receiver compares with its own.
struct MeshGreeting {
  std::uint32_t rank = 0;
  std::uint64_t session = 0;
};

Bytes mesh_greeting(const MeshGreeting& greeting);
// Returns the header and the frame in one buffer. The payload is sent from its own memory.
Bytes mesh_head(ByteSpan frame, std::size_t payload_bytes);

// A message that is being sent. The socket takes it in several steps.
struct MeshOutgoing {
  Bytes head;
  SharedSlice payload = {};
  std::size_t sent = 0;  // number of bytes the socket has taken

  std::size_t bytes() const { return head.size() + payload.size(); }
  bool done() const { return sent == bytes(); }
  // Writes the parts that are not sent yet to `parts` and returns their number.
  std::size_t rest(std::span<iovec, 2> parts) const;
};

// Parses the stream of one connection. It tells the caller where to read the next bytes, so that a
// payload is read directly into its final buffer. The bytes are not trusted: sizes are checked
// against the limits before memory is allocated. Not thread-safe. `pool` must outlive it.
class MeshReader {
 public:
  MeshReader(std::size_t frame_bytes_max, std::size_t payload_bytes_max, BufferPool& pool)
      : frame_bytes_max_(frame_bytes_max), payload_bytes_max_(payload_bytes_max), pool_(pool) {
    expect(kMeshGreetingBytes);
  }

  // The buffer for the next bytes; never empty. It ends where the current part ends, so a read
  // never goes beyond it.
  MutableByteSpan unfilled() { return MutableByteSpan(part_).subspan(filled_); }

  enum class Completed : std::uint8_t { nothing_whole, greeting, message };
  // Processes `bytes` bytes that were read into unfilled(). An error (corrupt_data) is final.
  Result<Completed> process(std::size_t bytes);

  // Whether a payload has begun and is incomplete.
  bool in_payload() const { return reading_ == Reading::payload; }

  const std::optional<MeshGreeting>& greeting() const { return greeting_; }
  // The frame and the payload of the last message. Take them before more bytes are read.
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
