#include "core/link/keys.h"

#include <fmt/format.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): explicit_bzero is not in <cstring>
#include <sys/stat.h>
#include <zmq.h>

#include <algorithm>

#include "core/base/file.h"

namespace tributary {
namespace {

constexpr std::uint64_t kKeyFileBytesMax = 4096;
constexpr std::string_view kPublicField = "public = ";
constexpr std::string_view kSecretField = "secret = ";

using KeyText = std::array<char, kKeyTextBytes + 1>;

// Text that holds a secret, wiped when it goes.
struct SecretText {
  std::string text;

  SecretText() { text.reserve(kKeyFileBytesMax); }  // growing would leave a copy behind
  ~SecretText() { ::explicit_bzero(text.data(), text.size()); }
  SecretText(const SecretText&) = delete;
  SecretText& operator=(const SecretText&) = delete;
};

bool decode_key(std::string_view text, std::span<std::uint8_t, kKeyBytes> out) {
  if (text.size() != kKeyTextBytes || text.find('\0') != std::string_view::npos) return false;
  KeyText terminated{};
  std::ranges::copy(text, terminated.begin());
  const bool decoded = zmq_z85_decode(out.data(), terminated.data()) != nullptr;
  ::explicit_bzero(terminated.data(), terminated.size());
  return decoded;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// What stands behind "field" at the beginning of a line; empty where there is no such line.
std::string_view field_of(std::string_view text, std::string_view field) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(field)) return trimmed(line.substr(field.size()));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return {};
}

Status not_a_key_pair(std::string got) {
  return Status(StatusCode::corrupt_data,
                {.what = "key file",
                 .expected = "a line 'public = KEY' and a line 'secret = KEY', which fit together",
                 .got = std::move(got),
                 .remedy = "make a new one with 'tributary keys new'"});
}

Result<KeyPair> parse_key_pair(std::string_view text) {
  PublicKey public_key;
  std::array<std::uint8_t, kKeyBytes> secret{};
  const std::string_view secret_text = field_of(text, kSecretField);
  const bool whole =
      decode_key(field_of(text, kPublicField), public_key.bytes) && decode_key(secret_text, secret);
  if (!whole) return not_a_key_pair("something else");
  const KeyPair keys{public_key, SecretKey(secret)};
  ::explicit_bzero(secret.data(), secret.size());
  KeyText terminated{};
  std::ranges::copy(secret_text, terminated.begin());
  KeyText derived{};
  const int failed = zmq_curve_public(derived.data(), terminated.data());
  ::explicit_bzero(terminated.data(), terminated.size());
  if (failed != 0 || key_text(public_key) != derived.data()) {
    return not_a_key_pair("halves of two different pairs");
  }
  return keys;
}

Status refuse_if_others_can_read(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return {};  // reading it will say what is wrong
  if ((about.st_mode & 077) == 0) return {};
  return Status(StatusCode::invalid_argument,
                {.what = "key file",
                 .expected = "one that its owner alone may read and write",
                 .got = fmt::format("mode {:04o}", about.st_mode & 07777),
                 .remedy = "chmod 600, and make a new key if others may have read it"});
}

}  // namespace

SecretKey::SecretKey(std::span<const std::uint8_t, kKeyBytes> bytes) : bytes_{} {
  std::ranges::copy(bytes, bytes_.begin());
}

SecretKey::~SecretKey() { ::explicit_bzero(bytes_.data(), bytes_.size()); }

std::string key_text(const PublicKey& key) {
  KeyText text{};
  zmq_z85_encode(text.data(), key.bytes.data(), key.bytes.size());
  return text.data();
}

Result<PublicKey> parse_public_key(std::string_view text) {
  PublicKey key;
  if (decode_key(text, key.bytes)) return key;
  return Status(StatusCode::invalid_argument,
                {.what = "public key",
                 .expected = fmt::format("{} characters of Z85", kKeyTextBytes),
                 .got = fmt::format("{} characters", text.size()),
                 .remedy = "'tributary keys show' prints it; put it in single quotes"});
}

Result<KeyPair> make_key_pair() {
  KeyText public_text{};
  KeyText secret_text{};
  // A key that began with a dash would be taken for an option on every command line.
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

Status write_key_pair(const std::string& path, const KeyPair& keys) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) == 0) {
    return Status(StatusCode::already_exists, {.what = path,
                                               .expected = "no such file yet",
                                               .got = "one",
                                               .remedy = "choose another name, or remove it if "
                                                         "nobody relies on the key in it"});
  }
  KeyText secret{};
  zmq_z85_encode(secret.data(), keys.secret_key.bytes().data(), kKeyBytes);
  SecretText file;
  file.text += "# A key pair of Tributary. Whoever can read this file can pose as its owner.\n";
  file.text += kPublicField;
  file.text += key_text(keys.public_key);
  file.text += "\n";
  file.text += kSecretField;
  file.text += secret.data();
  file.text += "\n";
  ::explicit_bzero(secret.data(), secret.size());
  return write_file_atomically(path, bytes_of(file.text), {.mode_if_new = 0600});
}

Result<KeyPair> read_key_pair(const std::string& path) {
  if (Status status = refuse_if_others_can_read(path); !status.ok()) {
    return std::move(status).at(path);
  }
  TRIBUTARY_ASSIGN(Bytes file, read_file(path, kKeyFileBytesMax));
  Result<KeyPair> keys = parse_key_pair({reinterpret_cast<const char*>(file.data()), file.size()});
  ::explicit_bzero(file.data(), file.size());
  if (!keys.ok()) return std::move(keys).status().at(path);
  return keys;
}

Status write_public_key(const std::string& path, const PublicKey& key) {
  const std::string text = key_text(key) + "\n";
  return write_file_atomically(path, bytes_of(text));
}

Result<PublicKey> read_public_key(const std::string& path) {
  TRIBUTARY_ASSIGN(const Bytes file, read_file(path, kKeyFileBytesMax));
  Result<PublicKey> key =
      parse_public_key(trimmed({reinterpret_cast<const char*>(file.data()), file.size()}));
  if (!key.ok()) return std::move(key).status().at(path);
  return key;
}

}  // namespace tributary
