#include "core/net/keys/secret_file.h"

#include <fmt/format.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): explicit_bzero is not in <cstring>
#include <sys/stat.h>
#include <zmq.h>

#include <algorithm>

#include "core/base/files/file.h"

namespace tributary {
namespace {

constexpr std::uint64_t kSecretFileBytesMax = 4096;

using KeyText = std::array<char, kKeyTextBytes + 1>;

Status not_a_key_pair(std::string got) {
  return Status(StatusCode::corrupt_data,
                {.what = "key pair",
                 .expected = "a public and a secret half of 40 characters each that fit together",
                 .got = std::move(got),
                 .remedy = "make a new one with 'tributary keys'"});
}

Status refuse_if_others_can_read(const std::string& path, std::string_view what) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return {};  // reading the file will report the error
  if ((about.st_mode & 077) == 0) return {};
  return Status(StatusCode::invalid_argument,
                {.what = std::string(what),
                 .expected = "a file that only its owner can read and write",
                 .got = fmt::format("mode {:04o}", about.st_mode & 07777),
                 .remedy = "run chmod 600 on it, and make a new key if others may have read it"});
}

}  // namespace

SecretText::SecretText() { text_.reserve(kSecretFileBytesMax); }

SecretText::~SecretText() { ::explicit_bzero(text_.data(), text_.size()); }

void SecretText::append(std::string_view text) {
  text_ += text.substr(0, std::min(text.size(), kSecretFileBytesMax - text_.size()));
}

// libzmq requires a terminated text, so a copy is made and overwritten.
bool decode_key_text(std::string_view text, std::span<std::uint8_t, kKeyBytes> key) {
  if (text.size() != kKeyTextBytes || text.find('\0') != std::string_view::npos) return false;
  KeyText terminated{};
  std::ranges::copy(text, terminated.begin());
  const bool decoded = zmq_z85_decode(key.data(), terminated.data()) != nullptr;
  ::explicit_bzero(terminated.data(), terminated.size());
  return decoded;
}

SecretText secret_key_text(const SecretKey& key) {
  KeyText buffer{};
  zmq_z85_encode(buffer.data(), key.bytes().data(), kKeyBytes);
  SecretText text;
  text.append(std::string_view(buffer.data(), kKeyTextBytes));
  ::explicit_bzero(buffer.data(), buffer.size());
  return text;
}

Result<KeyPair> parse_key_pair(std::string_view public_text, std::string_view secret_text) {
  PublicKey public_key;
  std::array<std::uint8_t, kKeyBytes> secret{};
  const bool whole =
      decode_key_text(public_text, public_key.bytes) && decode_key_text(secret_text, secret);
  if (!whole) return not_a_key_pair("something else");
  const KeyPair keys{public_key, SecretKey(secret)};
  ::explicit_bzero(secret.data(), secret.size());
  KeyText terminated{};
  std::ranges::copy(secret_text, terminated.begin());
  KeyText derived{};
  // The public half is computed from the secret one: two halves of different pairs would fail only
  // in a handshake, without a reason.
  const int failed = zmq_curve_public(derived.data(), terminated.data());
  ::explicit_bzero(terminated.data(), terminated.size());
  if (failed != 0 || public_text != derived.data()) {
    return not_a_key_pair("halves of two different pairs");
  }
  return keys;
}

Result<SecretText> read_secret_file(const std::string& path, std::string_view what) {
  if (Status status = refuse_if_others_can_read(path, what); !status.ok()) {
    return std::move(status).at(path);
  }
  TRIBUTARY_ASSIGN(Bytes file, read_file(path, kSecretFileBytesMax));
  SecretText text;
  text.append({reinterpret_cast<const char*>(file.data()), file.size()});
  ::explicit_bzero(file.data(), file.size());
  return text;
}

// lstat() instead of stat(): a dangling link at the path counts as a file too.
Status write_secret_file(const std::string& path, const SecretText& text) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) == 0) {
    return Status(StatusCode::already_exists, {.what = path,
                                               .expected = "no such file yet",
                                               .got = "one",
                                               .remedy = "choose another name, or remove the "
                                                         "file if its key is not in use"});
  }
  return write_file_atomically(path, bytes_of(text.view()), {.mode_if_new = 0600});
}

}  // namespace tributary
