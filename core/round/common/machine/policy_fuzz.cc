// Whatever a journal holds for a policy is one that `check` takes, or an error; and a policy is
// written as what it was read from.
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
