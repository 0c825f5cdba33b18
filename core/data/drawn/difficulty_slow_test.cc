// Checks the difficulty of the drawn digits. A linear model that is trained to convergence must
// stay clearly below a small convolutional network, and must still learn something.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/data/drawn/digits.h"
#include "core/data/drawn/shapes.h"

namespace tributary {
namespace {

constexpr std::uint32_t kClasses = 10;

struct Pictures {
  std::vector<std::vector<float>> values;
  std::vector<std::uint8_t> labels;
};

template <typename Draw>
Pictures draw(Draw draw_one, DataPart part, std::uint32_t count) {
  Pictures pictures;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto picture = draw_one(0, part, i);
    auto& values = pictures.values.emplace_back();
    for (const std::uint8_t pixel : picture.pixels) {
      values.push_back(static_cast<float>(pixel) / 255.0f - 0.25f);
    }
    values.push_back(1);  // the bias
    pictures.labels.push_back(picture.label);
  }
  return pictures;
}

// Softmax regression by stochastic gradient descent with a step that decreases to zero.
class Softmax {
 public:
  explicit Softmax(std::size_t values) : weights_(values * kClasses) {}

  void train(const Pictures& pictures, unsigned epochs, float step) {
    const std::size_t count = pictures.labels.size();
    for (unsigned epoch = 0; epoch < epochs; ++epoch) {
      const float now = step * static_cast<float>(epochs - epoch) / static_cast<float>(epochs);
      for (std::size_t i = 0; i < count; ++i) {
        auto p = probabilities(pictures.values[i]);
        p[pictures.labels[i]] -= 1;
        for (std::size_t j = 0; j < pictures.values[i].size(); ++j) {
          const float x = now * pictures.values[i][j];
          for (std::size_t c = 0; c < kClasses; ++c) weights_[j * kClasses + c] -= x * p[c];
        }
      }
    }
  }

  double accuracy(const Pictures& pictures) const {
    double right = 0;
    for (std::size_t i = 0; i < pictures.labels.size(); ++i) {
      const auto p = probabilities(pictures.values[i]);
      right += std::ranges::max_element(p) - p.begin() == pictures.labels[i] ? 1 : 0;
    }
    return right / static_cast<double>(pictures.labels.size());
  }

 private:
  std::array<float, kClasses> probabilities(const std::vector<float>& values) const {
    std::array<float, kClasses> p{};
    for (std::size_t j = 0; j < values.size(); ++j) {
      for (std::size_t c = 0; c < kClasses; ++c) p[c] += values[j] * weights_[j * kClasses + c];
    }
    const float largest = *std::ranges::max_element(p);
    float sum = 0;
    for (float& x : p) {
      x = std::exp(x - largest);
      sum += x;
    }
    for (float& x : p) x /= sum;
    return p;
  }

  std::vector<float> weights_;
};

TEST(Difficulty, LogisticRegressionStaysBelow92PercentOnDigits) {
  const Pictures train = draw(draw_digit, DataPart::train, 20'000);
  const Pictures test = draw(draw_digit, DataPart::test, 4'000);
  Softmax model(train.values[0].size());
  model.train(train, 15, 0.01f);
  const double accuracy = model.accuracy(test);
  RecordProperty("accuracy", std::to_string(accuracy));
  EXPECT_LE(accuracy, 0.92);
  EXPECT_GE(accuracy, 0.75);
  EXPECT_GE(model.accuracy(train), accuracy);  // it has been trained to its limit
}

TEST(Difficulty, LogisticRegressionLearnsLittleOfShapes) {
  const Pictures train = draw(draw_shape, DataPart::train, 5'000);
  const Pictures test = draw(draw_shape, DataPart::test, 2'000);
  Softmax model(train.values[0].size());
  model.train(train, 5, 0.001f);
  EXPECT_LE(model.accuracy(test), 0.4);
}

}  // namespace
}  // namespace tributary
