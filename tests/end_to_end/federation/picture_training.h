// Small pictures of three kinds, which a job of real processes learns within seconds, and the
// fixture of the tests that train on them. Its tests are skipped where the build has no libtorch.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/end_to_end/federation/process.h"

namespace tributary::end_to_end {

// Writes noisy stripes whose direction is the label, in the format of MNIST. The examples have only
// these labels of the three.
void write_pictures(const std::filesystem::path& folder, const std::string& part,
                    std::uint32_t count, std::uint64_t seed,
                    const std::vector<std::uint32_t>& some_labels = {0, 1, 2});

class PictureTraining : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::vector<std::string> settings() const {
    return {"trainer.name=torch", "trainer.threads=1", "data.path=" + data_.string()};
  }

  std::filesystem::path data_;  // folder
};

// A job's model for the pictures.
inline constexpr const char* kLenet = R"(model = "lenet"
input = "1x16x16"
classes = 10
batch_size = 32
evaluate_every = 5
)";

// Returns the accuracy of the agent's final model from its log; -1 without any.
double last_accuracy(const Process& agent);

}  // namespace tributary::end_to_end
