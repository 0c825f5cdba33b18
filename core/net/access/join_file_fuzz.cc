// Fuzz target: every text is a join file or an error, and no error reveals a secret. The values are
// the quoted texts of the file, and no error may repeat one.
#include <cstdlib>
#include <string>

#include "core/net/access/join_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<JoinFile> join = parse_join_file(text);
  if (join.ok()) {
    if (join->agent_id.empty() || !join->coordinator.starts_with("tcp://")) std::abort();
    if (text.find(key_text(join->keys.public_key)) == std::string_view::npos) std::abort();
    return 0;
  }
  const std::string_view name = "secret_key = \"";
  const std::size_t secret = text.find(name);
  if (secret == std::string_view::npos || text.size() < secret + name.size() + kKeyTextBytes) {
    return 0;
  }
  const std::string_view value = text.substr(secret + name.size(), kKeyTextBytes);
  // The value is not a key, and its text may be part of an error by chance.
  if (!parse_public_key(value).ok()) return 0;
  if (join.status().text().find(value) != std::string::npos) std::abort();
  return 0;
}
