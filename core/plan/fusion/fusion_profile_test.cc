// Tests of checking a profile before it is planned.
#include "core/plan/fusion/fusion_profile.h"

#include <gmock/gmock.h>

#include <limits>

namespace tributary {
namespace {

using testing::HasSubstr;

FusionProfile good() {
  FusionProfile profile;
  profile.backward_s = {0.5, 0.25};
  profile.bytes = {1, 2};
  return profile;
}

void expect_refused(const FusionProfile& profile, StatusCode code, const std::string& text) {
  const Status status = check_fusion_profile(profile);
  EXPECT_EQ(status.code(), code);
  EXPECT_THAT(status.ok() ? "" : status.text(), HasSubstr(text));
}

TEST(FusionProfile, TakesNumbersInRange) {
  EXPECT_TRUE(check_fusion_profile(good()).ok());
  FusionProfile profile = good();
  profile.backward_s.assign(kFusionTensorsMax, kFusionSecondsMax);
  profile.bytes.assign(kFusionTensorsMax, kFusionBytesMax);
  profile.network.beta_s_per_byte = kFusionSecondsPerByteMax;
  profile.decode_agents = kFusionAgentsMax;
  EXPECT_TRUE(check_fusion_profile(profile).ok());
}

TEST(FusionProfile, RefusesCountsThatDoNotFit) {
  expect_refused({}, StatusCode::invalid_argument, "backward_s");
  FusionProfile profile = good();
  profile.bytes.push_back(3);
  expect_refused(profile, StatusCode::mismatch, "expected 2 numbers, as backward_s has, got 3");
  profile.backward_s.assign(kFusionTensorsMax + 1, 1);
  profile.bytes.assign(kFusionTensorsMax + 1, 1);
  expect_refused(profile, StatusCode::resource_exhausted, "up to 4096 tensors, got 4097");
}

TEST(FusionProfile, RefusesNumbersThatCannotBe) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  FusionProfile profile = good();
  profile.backward_s[1] = -1;
  expect_refused(profile, StatusCode::invalid_argument, "backward_s[1]");
  profile = good();
  profile.bytes[0] = std::numeric_limits<double>::quiet_NaN();
  expect_refused(profile, StatusCode::not_finite, "bytes[0]");
  profile = good();
  profile.compress.alpha_s = kInfinity;
  expect_refused(profile, StatusCode::not_finite, "compress.alpha_s");
  profile = good();
  profile.network.beta_s_per_byte = 1.5;
  expect_refused(profile, StatusCode::invalid_argument, "network.beta_s_per_byte");
  profile = good();
  profile.decode.beta_s_per_byte = -0.5;
  expect_refused(profile, StatusCode::invalid_argument, "decode.beta_s_per_byte");
  profile = good();
  profile.decode_agents = 0;
  expect_refused(profile, StatusCode::invalid_argument, "decode.agents");
}

}  // namespace
}  // namespace tributary
