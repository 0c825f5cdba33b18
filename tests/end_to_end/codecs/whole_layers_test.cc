// Codecs that need whole layers send as few bytes in a job between daemons as `codec measure`
// predicts for the job's layers, although the layers are larger than the job's buckets.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "core/base/random.h"
#include "core/codec/measure.h"
#include "core/codec/registry.h"
#include "core/store/coordinator/run_file.h"
#include "schemas/frame_generated.h"
#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

constexpr std::uint64_t kLayerRounds = 6;
// The layers of a perceptron for digits, in buckets of 4096 values.
constexpr std::string_view kPerceptron =
    R"(layers = ["1.weight:128x784", "1.bias:128", "2.weight:10x128", "2.bias:10"])";

LayerMap perceptron() {
  return *LayerMap::make(
      {{"1.weight", {128, 784}}, {"1.bias", {128}}, {"2.weight", {10, 128}}, {"2.bias", {10}}});
}

double ratio_measured(const std::string& spec) {
  const LayerMap layers = perceptron();
  const NormalStream normals({.job_seed = 1, .purpose = DrawPurpose::synthetic_data});
  FloatVector update(layers.values());
  for (std::uint32_t i = 0; i < update.size(); ++i) {
    update[i] = static_cast<float>(normals.at(i));
  }
  const auto codec = make_codec(spec);
  const SystemClock clock;
  const std::span<const float> one = update;
  const auto report =
      measure(**codec, {&one, 1}, {.bucket_values = 4096, .layers = &layers}, clock);
  EXPECT_TRUE(report.ok()) << report.status().text();
  return report->ratio_up;
}

// Payload bytes that all agents sent in the rounds from the second to the last but one; an agent's
// report on a round states the bytes of the round before.
double bytes_sent(const std::string& codec, const std::string& collective) {
  Federation federation({.rounds = kLayerRounds,
                         .job = std::string(kPerceptron),
                         .codec = codec,
                         .coordinator_settings = {"job.collective=" + collective},
                         .agent_settings = {"peers.endpoint=tcp://127.0.0.1:0"}});
  federation.start_all();
  federation.expect_all_end();
  federation.expect_identical();
  const auto file = RunFile::open(federation.coordinator_journal());
  EXPECT_TRUE(file.ok()) << file.status().text();
  const auto reports = (*file)->agent_rounds((*file)->jobs()->front().job, 3, kLayerRounds);
  EXPECT_TRUE(reports.ok()) << reports.status().text();
  double bytes = 0;
  for (const AgentRoundRecord& report : *reports) {
    bytes += static_cast<double>(report.bytes_up);
    const auto* const facts = flatbuffers::GetRoot<wire::Mechanisms>(report.mechanisms->data());
    EXPECT_EQ(facts->matrices(), codec == "fp32" ? 0u : 2u) << "of the journal's facts";
  }
  return bytes;
}

class WholeLayers : public testing::TestWithParam<const char*> {};

TEST_P(WholeLayers, TravelAsFewBytesAsMeasured) {
  const double measured = ratio_measured("powersgd:rank=4");
  EXPECT_GT(measured, 15);
  const double dense = bytes_sent("fp32", GetParam());
  const double factors = bytes_sent("powersgd:rank=4", GetParam());
  EXPECT_GT(dense / factors, 0.9 * measured);
  EXPECT_LT(dense / factors, 1.1 * measured);
}

INSTANTIATE_TEST_SUITE_P(Collectives, WholeLayers, testing::Values("star", "sharded_star", "ring"),
                         [](const auto& collective) { return std::string(collective.param); });

}  // namespace
}  // namespace tributary::end_to_end
