// Files that contain a secret key: permission checks, and text that is overwritten after use.
//
// The functions are pure except for the files, and any thread may call them. Errors never contain a
// key or a part of one. They check permissions before they read: a file that others could read is
// refused, because its key may be known already.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/net/keys/keys.h"

namespace tributary {

// Text that is overwritten in memory when it is destroyed. Its capacity is fixed and append() cuts
// off what does not fit, because growing would leave a copy of the secret in freed memory.
class SecretText {
 public:
  SecretText();
  SecretText(SecretText&&) noexcept = default;
  SecretText& operator=(SecretText&&) = delete;
  SecretText(const SecretText&) = delete;
  SecretText& operator=(const SecretText&) = delete;
  ~SecretText();

  // At most the size of a secret file is kept.
  void append(std::string_view text);
  std::string_view view() const { return text_; }

 private:
  std::string text_;
};

// Decodes the Z85 text of a key. Returns false if the text is not a key.
bool decode_key_text(std::string_view text, std::span<std::uint8_t, kKeyBytes> key);
// The Z85 text of a secret key.
SecretText secret_key_text(const SecretKey& key);

// Makes a key pair from both texts. Returns corrupt_data if one of them is not a key or if they do
// not belong together.
Result<KeyPair> parse_key_pair(std::string_view public_text, std::string_view secret_text);

// Returns invalid_argument if anyone but the file's owner may read or write it. `what` names the
// file's kind in errors.
Result<SecretText> read_secret_file(const std::string& path, std::string_view what);

// Writes a file that only its owner may read. Returns already_exists if the file exists, and leaves
// it unchanged: other parties may rely on the key in it.
Status write_secret_file(const std::string& path, const SecretText& text);

}  // namespace tributary
