// Every profile that is accepted must be valid and must have a plan.
#include <cstdlib>

#include "cli/fusion/profile_text.h"
#include "core/plan/fusion/fusion.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto require = [](bool condition) {
    if (!condition) std::abort();
  };
  const Result<FusionProfile> profile = parse_fusion_profile(ByteSpan(data, size));
  if (!profile.ok()) return 0;
  require(check_fusion_profile(*profile).ok());
  if (profile->bytes.size() > 64) return 0;
  const Result<FusionPlan> plan = plan_fusion(*profile, {.steps_max = 1u << 16});
  require(plan.ok());
  std::size_t tensors = 0;
  for (const std::uint32_t count : plan->groups) {
    require(count > 0);
    tensors += count;
  }
  require(tensors == profile->bytes.size());
  require(plan->iteration_s >= 0 && plan->iteration_s < 1e300);
  return 0;
}
