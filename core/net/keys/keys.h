// Who somebody is: a CURVE key pair. The public half is the identity under which everybody else
// knows its owner; the secret half stays in one file on the owner's machine.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

inline constexpr std::size_t kKeyBytes = 32;
inline constexpr std::size_t kKeyTextBytes = 40;  // the same in Z85, the text form of ZeroMQ

struct PublicKey {
  std::array<std::uint8_t, kKeyBytes> bytes{};

  friend auto operator<=>(const PublicKey&, const PublicKey&) = default;
};

// Keys are random bytes already.
struct PublicKeyHash {
  std::size_t operator()(const PublicKey& key) const {
    std::size_t hash = 0;
    std::memcpy(&hash, key.bytes.data(), sizeof(hash));
    return hash;
  }
};

// Wiped when it goes.
class SecretKey {
 public:
  explicit SecretKey(std::span<const std::uint8_t, kKeyBytes> bytes);
  SecretKey(const SecretKey&) = default;
  SecretKey& operator=(const SecretKey&) = default;
  ~SecretKey();

  std::span<const std::uint8_t, kKeyBytes> bytes() const { return bytes_; }

 private:
  std::array<std::uint8_t, kKeyBytes> bytes_;
};

struct KeyPair {
  PublicKey public_key;
  SecretKey secret_key;
};

std::string key_text(const PublicKey& key);
Result<PublicKey> parse_public_key(std::string_view text);

// From the operating system's random numbers.
Result<KeyPair> make_key_pair();

// Readable for its owner alone. A file that is there already is kept, and an error: the key in it
// may be one that others know.
Status write_key_pair(const std::string& path, const KeyPair& keys);

// Refuses a file that others than its owner may read or write, and halves that do not fit together.
Result<KeyPair> read_key_pair(const std::string& path);

// A file that holds a public key and nothing else.
Status write_public_key(const std::string& path, const PublicKey& key);
Result<PublicKey> read_public_key(const std::string& path);

}  // namespace tributary
