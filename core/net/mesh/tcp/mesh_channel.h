// A connected, non-blocking socket with or without TLS. Internal to core/net/mesh.
//
// The owner of the socket decides when to read and write; a channel never blocks and never closes
// the socket. Channels and TlsSettings belong to the link's thread.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/net/keys/keys.h"

struct ssl_ctx_st;

namespace tributary {

// Reads and writes the bytes of one connection. It does not own the socket. Not thread-safe.
class MeshChannel {
 public:
  virtual ~MeshChannel() = default;

  // Both return the number of bytes moved; 0 means that the call would have to wait. An error is
  // final. The end of the stream is an error too (`unavailable`).
  virtual Result<std::size_t> read(MutableByteSpan into) = 0;
  virtual Result<std::size_t> write(std::span<const iovec> from) = 0;
  // Whether a read waits until the socket is writable. A TLS handshake may have to write before it
  // can read.
  virtual bool has_to_write() const { return false; }
  // Whether the channel holds received bytes that the socket does not report any more.
  virtual bool holds_bytes() const { return false; }

  // Bytes on the socket, including those of TLS.
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
};

std::unique_ptr<MeshChannel> plain_channel(int file);

// Derives the key of each pair of members.
class PairKeys {
 public:
  virtual ~PairKeys() = default;
  // The key of the connection from rank `from` to rank `to`; this member is one of the two.
  virtual Result<std::array<std::uint8_t, 32>> key(std::uint32_t from, std::uint32_t to) const = 0;
};

// Derives keys from the X25519 result of two members' keys, hashed with the session and the
// direction. `own` and `members` are copied.
std::unique_ptr<PairKeys> make_pair_keys(const KeyPair& own, std::uint32_t rank,
                                         std::span<const PublicKey> members, std::uint64_t session);

// The TLS context of one mesh and the factory of its channels.
class TlsSettings {
 public:
  // `keys` must outlive this object.
  static Result<std::unique_ptr<TlsSettings>> make(const PairKeys& keys, std::uint32_t rank,
                                                   std::uint32_t members);
  ~TlsSettings();
  TlsSettings(const TlsSettings&) = delete;
  TlsSettings& operator=(const TlsSettings&) = delete;

  // call() makes the channel of the side that connects, which knows the member's rank. answer()
  // makes the channel of the side that accepts. It learns the rank from a successful handshake, so
  // `from` is set before the first byte can be read.
  Result<std::unique_ptr<MeshChannel>> call(int file, std::uint32_t to) const;
  struct Answered {
    std::unique_ptr<MeshChannel> channel;
    std::shared_ptr<const std::uint32_t> from;
  };
  Result<Answered> answer(int file) const;

  const PairKeys& keys() const { return keys_; }
  std::uint32_t rank() const { return rank_; }
  std::uint32_t members() const { return members_; }

 private:
  TlsSettings(const PairKeys& keys, std::uint32_t rank, std::uint32_t members, ssl_ctx_st* context)
      : keys_(keys), rank_(rank), members_(members), context_(context) {}

  const PairKeys& keys_;
  const std::uint32_t rank_;
  const std::uint32_t members_;
  ssl_ctx_st* const context_;
};

}  // namespace tributary
