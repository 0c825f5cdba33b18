// A connected socket that never waits, with TLS on it or without. For the files of this folder.
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

class MeshChannel {
 public:
  virtual ~MeshChannel() = default;

  // How many bytes have moved; 0: it would have to wait. Errors are for good; the end of the stream
  // is one (`unavailable`).
  virtual Result<std::size_t> read(MutableByteSpan into) = 0;
  virtual Result<std::size_t> write(std::span<const iovec> from) = 0;
  // A handshake may want to write in order to read, and the other way round.
  virtual bool wants_to_write() const { return false; }
  // Whether bytes may be inside that the socket no longer has.
  virtual bool holds_bytes() const { return false; }

  // Of the stream on the socket.
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
};

std::unique_ptr<MeshChannel> plain_channel(int file);

// A key for each pair of members, from their own.
class PairKeys {
 public:
  virtual ~PairKeys() = default;
  // Of the connection from one rank to another; this member is one of them.
  virtual Result<std::array<std::uint8_t, 32>> key(std::uint32_t from, std::uint32_t to) const = 0;
};

// What the members' X25519 keys have in common, hashed with the session and the way.
std::unique_ptr<PairKeys> make_pair_keys(const KeyPair& own, std::uint32_t rank,
                                         std::span<const PublicKey> members, std::uint64_t session);

class TlsSettings {
 public:
  // `keys` outlives it.
  static Result<std::unique_ptr<TlsSettings>> make(const PairKeys& keys, std::uint32_t rank,
                                                   std::uint32_t members);
  ~TlsSettings();
  TlsSettings(const TlsSettings&) = delete;
  TlsSettings& operator=(const TlsSettings&) = delete;

  // The side that calls knows whom; the other learns it from a handshake that succeeds, which is
  // when anything can be read.
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
