// Files that hold the secret half of a key pair: who may read them, and text that does not outlive
// its use.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/net/keys/keys.h"

namespace tributary {

// Wiped when it goes. It never grows beyond what it has room for: growing would leave a copy
// behind.
class SecretText {
 public:
  SecretText();
  SecretText(SecretText&&) noexcept = default;
  SecretText& operator=(SecretText&&) = delete;
  SecretText(const SecretText&) = delete;
  SecretText& operator=(const SecretText&) = delete;
  ~SecretText();

  void append(std::string_view text);
  std::string_view view() const { return text_; }

 private:
  std::string text_;
};

// False where the text is no key.
bool decode_key_text(std::string_view text, std::span<std::uint8_t, kKeyBytes> key);
SecretText secret_key_text(const SecretKey& key);

// Both halves as text; corrupt_data where one is none, or they do not fit together.
Result<KeyPair> parse_key_pair(std::string_view public_text, std::string_view secret_text);

// Refuses a file that others than its owner may read or write. `what` names it in errors.
Result<SecretText> read_secret_file(const std::string& path, std::string_view what);

// Readable for its owner alone. A file that is there already is kept, and an error: others may know
// the key in it.
Status write_secret_file(const std::string& path, const SecretText& text);

}  // namespace tributary
