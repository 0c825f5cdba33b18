// CURVE key pairs, which identify agents and coordinators. The public key is the identity under
// which all others know the owner. The secret key stays in one file on the owner's machine. All
// functions are thread-safe.
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
// The same key in Z85, ZeroMQ's text form (RFC 32).
inline constexpr std::size_t kKeyTextBytes = 40;

// A public key. Its order has no meaning; it allows keys in ordered containers.
struct PublicKey {
  std::array<std::uint8_t, kKeyBytes> bytes{};

  friend auto operator<=>(const PublicKey&, const PublicKey&) = default;
};

// Uses the first bytes of the key, because keys are already random.
struct PublicKeyHash {
  std::size_t operator()(const PublicKey& key) const {
    std::size_t hash = 0;
    std::memcpy(&hash, key.bytes.data(), sizeof(hash));
    return hash;
  }
};

// A secret key. The destructor overwrites it in memory.
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

// A public key and the secret key that belongs to it.
struct KeyPair {
  PublicKey public_key;
  SecretKey secret_key;
};

// The text form has kKeyTextBytes characters. parse_public_key() returns invalid_argument for any
// other text.
std::string key_text(const PublicKey& key);
Result<PublicKey> parse_public_key(std::string_view text);

// Makes a key pair from the random numbers of the operating system. Returns unsupported if libzmq
// was built without CURVE. The text of the public key never begins with a dash.
Result<KeyPair> make_key_pair();

// Writes a file that only its owner may read. Returns already_exists if the file exists, and leaves
// it unchanged: other parties may rely on the key in it.
Status write_key_pair(const std::string& path, const KeyPair& keys);

// Returns invalid_argument if anyone but the file's owner may read or write it, and corrupt_data if
// the two keys do not belong together.
Result<KeyPair> read_key_pair(const std::string& path);

// A file with a public key and nothing else.
Status write_public_key(const std::string& path, const PublicKey& key);
Result<PublicKey> read_public_key(const std::string& path);

}  // namespace tributary
