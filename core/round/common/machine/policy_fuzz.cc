// Any stored bytes decode to a policy that `check` accepts, or to an error. Encoding such a policy
// and decoding it again gives the same policy.
#include <cstdlib>

#include "core/round/common/machine/policy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto policy = decode_policy({data, size});
  if (!policy.ok()) return 0;
  if (!check(*policy).ok()) std::abort();
  const auto again = decode_policy(encode(*policy));
  if (!again.ok() || !(*again == *policy)) std::abort();
  return 0;
}
