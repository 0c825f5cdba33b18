// Fuzz target: no request is accepted unless its key is on the list. The input is cut into parts;
// the byte before each part is its length.
#include <cstdlib>
#include <vector>

#include "core/net/access/gate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  PublicKey key;
  key.bytes.fill('k');
  const auto allowed = std::make_shared<AllowList>();
  allowed->allow(key, "agent");
  const ManualClock clock;
  Gate gate(clock);
  ignore_error(gate.guard("agents", allowed));
  std::vector<ByteSpan> parts;
  for (ByteSpan left(data, size); !left.empty();) {
    const std::size_t bytes = std::min<std::size_t>(left[0], left.size() - 1);
    parts.push_back(left.subspan(1, bytes));
    left = left.subspan(1 + bytes);
  }
  const GateAnswer answer = gate.answer(parts);
  const bool good = answer.status == 200;
  if (good != (answer.user_id == key_text(key))) std::abort();
  if (!good && answer.status != 400 && answer.status != 500) std::abort();
  return 0;
}
