// GComp on captured gradients: the bytes that it sends, and the effect of truncated bits on the
// optimizer's step.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "core/codec/codec_testing.h"
#include "core/codec/gcomp/captured_testing.h"
#include "core/codec/gcomp/elements.h"

namespace tributary::gcomp {
namespace {

using gcomp_testing::Capture;

constexpr const char* kByMetric = "gcomp:truncation=metric";

std::filesystem::path root() { return TRIBUTARY_SOURCE; }  // root of the checkout

// Returns the payload's size; `decoded` receives the decoded values.
std::size_t send(const std::string& spec, const Capture& capture, FloatVector& decoded) {
  const auto codec = codec_testing::codec_of(spec);
  const auto values = static_cast<std::uint32_t>(capture.gradient().size());
  const OptimizerView view = capture.view();
  const StageCall call = {.round = {.round = 1}, .optimizer = &view};
  Bytes payload;
  const Status encoded = codec->make_encoder(values)->encode(call, capture.gradient(), payload);
  EXPECT_TRUE(encoded.ok()) << encoded.text();
  decoded.resize(values);
  EXPECT_TRUE(codec->decode(call, payload, decoded).ok());
  return payload.size();
}

// Prints each capture's share of the float32 size, and returns the share of all captures together.
double share_of(const std::string& spec, const std::vector<Capture>& captures) {
  double sent = 0;
  double raw = 0;
  for (const Capture& capture : captures) {
    FloatVector decoded;
    const auto bytes = static_cast<double>(send(spec, capture, decoded));
    const double whole = static_cast<double>(capture.gradient().size()) * sizeof(float);
    const auto lossless = static_cast<double>(send("gcomp:truncation=none", capture, decoded));
    EXPECT_EQ(codec_testing::bits_of(decoded), codec_testing::bits_of(capture.gradient()));
    EXPECT_LT(bytes, lossless) << capture.name;
    std::printf("%-28s %5.1f %%, without truncation %5.1f %%\n", capture.name.c_str(),
                100 * bytes / whole, 100 * lossless / whole);
    sent += bytes;
    raw += whole;
  }
  std::printf("%-28s %5.1f %%\n", ("all, " + spec).c_str(), 100 * sent / raw);
  return sent / raw;
}

class Captured : public testing::Test {
 protected:
  void SetUp() override {
    all = gcomp_testing::captures(root() / "bench" / "gradients" / "captured");
    ASSERT_EQ(all.size(), 12u) << "convnet and transformer, SGD and AdamW, three moments";
  }

  std::vector<Capture> all;
};

// Truncation by the optimizer's metric, over the committed set of captures.
TEST_F(Captured, FortyPercentOfTheBytesAreSent) { EXPECT_LE(share_of(kByMetric, all), 0.40); }

// Truncation by the default.
TEST_F(Captured, ByDefaultAQuarterOfTheBytesIsSent) { EXPECT_LE(share_of("gcomp", all), 0.26); }

// No share is guaranteed for these captures, because it depends more on the training than on the
// codec.
TEST(CapturedLargeSet, TruncationSavesOnEveryCapture) {
  // The large set, which ./dev setup --bench creates; empty without it.
  const std::vector<Capture> large = gcomp_testing::captures(root() / "build" / "gradients");
  if (large.empty()) GTEST_SKIP() << "skipped, because ./dev setup --bench has not made it";
  ASSERT_EQ(large.size(), 12u);
  EXPECT_LT(share_of(kByMetric, large), 1.0);
  EXPECT_LT(share_of("gcomp", large), 0.5);
}

// Section 5.1: at most 18 of 23 bits are truncated, so a gradient loses less than 2^-5 of itself.
TEST_F(Captured, NoGradientLosesMoreThanItsLevelAllows) {
  for (const Capture& capture : all) {
    FloatVector decoded;
    send(kByMetric, capture, decoded);
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      const float g = capture.gradient()[i];
      // Denormals have exponent 0.
      if (std::abs(g) < 0x1p-126f) continue;  // pruned
      ASSERT_LT(std::abs(g - decoded[i]), std::abs(g) * 0x1p-5f) << capture.name << ", " << i;
    }
  }
}

// Footnote 2: truncated bits move the new parameter by less than 2^-22 of its value. For SGD this
// is checked on the parameter itself, in double. The numerator of δ is the part of θ that the step
// leaves.
TEST_F(Captured, TruncationHardlyChangesSgd) {
  for (const Capture& capture : all) {
    if (capture.fields.at("kind") != "sgd") continue;
    const OptimizerView view = capture.view();
    const auto rate = static_cast<double>(view.learning_rate);
    const double keeps = 1 - rate * static_cast<double>(view.weight_decay);
    FloatVector decoded;
    send(kByMetric, capture, decoded);
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      const auto theta = static_cast<double>(view.parameters[i]);
      const double lost =
          static_cast<double>(capture.gradient()[i]) - static_cast<double>(decoded[i]);
      ASSERT_LE(std::abs(rate * lost), std::abs(keeps * theta) * 0x1p-22 + 0x1p-126)
          << capture.name << ", " << i;
    }
  }
}

// The same for AdamW's step, with the second moment that each gradient produces.
TEST_F(Captured, TruncationHardlyChangesAdamw) {
  for (const Capture& capture : all) {
    if (capture.fields.at("kind") != "adamw") continue;
    const OptimizerView view = capture.view();
    const auto rate = static_cast<double>(view.learning_rate);
    const auto b1 = static_cast<double>(view.beta1);
    const auto b2 = static_cast<double>(view.beta2);
    const double c1 = 1 - std::pow(b1, static_cast<double>(view.step));
    const double c2 = 1 - std::pow(b2, static_cast<double>(view.step));
    FloatVector decoded;
    send(kByMetric, capture, decoded);
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      const auto g = static_cast<double>(capture.gradient()[i]);
      const auto arrived = static_cast<double>(decoded[i]);
      const auto theta = static_cast<double>(view.parameters[i]);
      const auto m = static_cast<double>(view.first_moment[i]);
      const auto v = static_cast<double>(view.second_moment[i]);
      const double root =
          std::sqrt((b2 * v + (1 - b2) * g * g) / c2) + static_cast<double>(view.epsilon);
      const double decayed = theta * (1 - rate * static_cast<double>(view.weight_decay));
      const double rest = decayed - rate * b1 * m / (root * c1);
      const double moved = rate * (1 - b1) * std::abs(g - arrived) / (root * c1);
      ASSERT_LE(moved, std::abs(rest) * 0x1p-22 + 0x1p-120) << capture.name << ", " << i;
    }
  }
}

}  // namespace
}  // namespace tributary::gcomp
