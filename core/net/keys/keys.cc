#include "core/net/keys/keys.h"

#include <fmt/format.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): explicit_bzero is not in <cstring>
#include <zmq.h>

#include <algorithm>

#include "core/base/files/file.h"
#include "core/net/keys/secret_file.h"

namespace tributary {
namespace {

// A key has 40 characters; the rest may be blanks and line ends.
constexpr std::uint64_t kPublicKeyFileBytesMax = 4096;
constexpr std::string_view kPublicField = "public = ";
constexpr std::string_view kSecretField = "secret = ";

using KeyText = std::array<char, kKeyTextBytes + 1>;

constexpr std::string_view kBlanksAndEnds = " \t\r\n";

std::string_view trimmed_value(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanksAndEnds);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanksAndEnds) - first + 1);
}

// Returns the text behind `field` on the first line that begins with it; empty if no line does.
std::string_view field_of(std::string_view text, std::string_view field) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(field)) return trimmed_value(line.substr(field.size()));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return {};
}

}  // namespace

SecretKey::SecretKey(std::span<const std::uint8_t, kKeyBytes> bytes) : bytes_{} {
  std::ranges::copy(bytes, bytes_.begin());
}

// explicit_bzero() is not removed by the optimizer, unlike memset() before the end of a lifetime.
SecretKey::~SecretKey() { ::explicit_bzero(bytes_.data(), bytes_.size()); }

std::string key_text(const PublicKey& key) {
  KeyText text{};
  zmq_z85_encode(text.data(), key.bytes.data(), key.bytes.size());
  return text.data();
}

Result<PublicKey> parse_public_key(std::string_view text) {
  PublicKey key;
  if (decode_key_text(text, key.bytes)) return key;
  return Status(StatusCode::invalid_argument,
                {.what = "public key",
                 .expected = fmt::format("{} characters of Z85", kKeyTextBytes),
                 .got = fmt::format("{} characters", text.size()),
                 .remedy = "'tributary keys show' prints it; put it in single quotes"});
}

Result<KeyPair> make_key_pair() {
  KeyText public_text{};
  KeyText secret_text{};
  // A key that begins with a dash would be parsed as an option on command lines.
  do {
    if (zmq_curve_keypair(public_text.data(), secret_text.data()) != 0) {
      return Status(StatusCode::unsupported, {.what = "a key pair",
                                              .expected = "a libzmq with CURVE",
                                              .got = zmq_strerror(zmq_errno()),
                                              .remedy = "install Debian's libzmq5"});
    }
  } while (public_text[0] == '-');
  PublicKey public_key;
  std::array<std::uint8_t, kKeyBytes> secret{};
  zmq_z85_decode(public_key.bytes.data(), public_text.data());
  zmq_z85_decode(secret.data(), secret_text.data());
  KeyPair keys{public_key, SecretKey(secret)};
  ::explicit_bzero(secret.data(), secret.size());
  ::explicit_bzero(secret_text.data(), secret_text.size());
  return keys;
}

// Secret text is only held in buffers that erase themselves.
Status write_key_pair(const std::string& path, const KeyPair& keys) {
  SecretText file;
  file.append("# A key pair of Tributary. Anyone who can read this file can pose as its owner.\n");
  file.append(kPublicField);
  file.append(key_text(keys.public_key));
  file.append("\n");
  file.append(kSecretField);
  file.append(secret_key_text(keys.secret_key).view());
  file.append("\n");
  return write_secret_file(path, file);
}

Result<KeyPair> read_key_pair(const std::string& path) {
  TRIBUTARY_ASSIGN(const SecretText file, read_secret_file(path, "key file"));
  Result<KeyPair> keys =
      parse_key_pair(field_of(file.view(), kPublicField), field_of(file.view(), kSecretField));
  if (!keys.ok()) return std::move(keys).status().at(path);
  return keys;
}

Status write_public_key(const std::string& path, const PublicKey& key) {
  const std::string text = key_text(key) + "\n";
  return write_file_atomically(path, bytes_of(text));
}

Result<PublicKey> read_public_key(const std::string& path) {
  TRIBUTARY_ASSIGN(const Bytes file, read_file(path, kPublicKeyFileBytesMax));
  Result<PublicKey> key =
      parse_public_key(trimmed_value({reinterpret_cast<const char*>(file.data()), file.size()}));
  if (!key.ok()) return std::move(key).status().at(path);
  return key;
}

}  // namespace tributary
