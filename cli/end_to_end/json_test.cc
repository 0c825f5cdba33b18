// The fields of --json that docs/command_line.md specifies.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/end_to_end/program_testing.h"
#include "core/codec/registry.h"
#include "core/update/synthetic.h"

namespace tributary {
namespace {

using Json = nlohmann::json;
using program_testing::Outcome;
using program_testing::run;
using testing::UnorderedElementsAreArray;

const std::vector<std::string> kMeasured = {"ratio_up",
                                            "ratio_down",
                                            "bits_per_value_up",
                                            "bits_per_value_down",
                                            "nmse",
                                            "nmse_last",
                                            "encode_bytes_per_s",
                                            "aggregate_bytes_per_s",
                                            "decode_bytes_per_s",
                                            "bytes_by_stage"};

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

std::vector<std::string> and_measured(std::vector<std::string> more) {
  more.insert(more.end(), kMeasured.begin(), kMeasured.end());
  return more;
}

// Runs the program and reads its answer, whose version and status every test checks.
class JsonTest : public program_testing::ProgramTest {
 protected:
  Json data(std::vector<std::string> args) const {
    args.emplace_back("--json");
    const Outcome outcome = run(args);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const Json answer = Json::parse(outcome.out);
    EXPECT_EQ(answer["schema_version"], 1);
    EXPECT_EQ(answer["status"], "ok");
    return answer["data"];
  }
  std::string update(const std::string& name, std::uint32_t agent,
                     std::size_t values = 5000) const {
    FloatVector out(values);
    fill_agent_gradient({.seed = 5}, agent, out);
    return write_floats(name, out);
  }
};

// `trigger_old` is an alias for one release.
TEST_F(JsonTest, PlanParetoHasBothNamesOfItsTrigger) {
  const Json out = data(
      {"plan", "pareto", "--gbps", "0.1", "--params", "1M", "--agents", "4", "--codec", "fp32"});
  EXPECT_EQ(out["trigger"], "first_round");
  EXPECT_EQ(out["trigger_old"], "first");
  EXPECT_EQ(out["choice"]["codec"], "fp32");
}

TEST_F(JsonTest, SimPlanComparesThePlannerWithFixedChoices) {
  const std::string text =
      "goal = 20\nvalues = 65536\n[first]\ncodec = \"fp32\"\ncollective = \"star\"\n"
      "bucket_values = 65536\n[uplinks]\nrate_mbit_s = [2, 20]\n";
  const std::string scenario = write("links.toml", bytes_of(std::string_view(text)));
  const Json out = data({"sim", "plan", scenario, "--seeds", "2", "--each", "--decisions"});
  EXPECT_THAT(keys(out), UnorderedElementsAreArray(
                             {"scenario", "about", "agents", "values", "goal", "seed", "seeds",
                              "fixed_choices", "to_best_median", "to_best_worst",
                              "oracle_to_best_median", "slower_than_median_fixed",
                              "verified_error_median", "verified_error_max", "wall_s", "runs"}));
  ASSERT_EQ(out["runs"].size(), 2u);
  const Json& run = out["runs"][1];
  EXPECT_THAT(keys(run), UnorderedElementsAreArray(
                             {"seed", "planner_s", "reached", "rounds", "switches", "best_fixed",
                              "median_fixed_s", "oracle_s", "to_best", "to_oracle", "verified",
                              "verified_error_max", "fixed", "played", "decisions"}));
  EXPECT_EQ(run["seed"], 2);
  EXPECT_EQ(run["fixed"].size(), out["fixed_choices"]);
  EXPECT_EQ(run["fixed"][0]["s"], run["best_fixed"]["s"]);
  EXPECT_EQ(run["played"].size(), run["verified"]);
  EXPECT_FALSE(run["decisions"].empty());
}

// The registry is the reference, so a new codec is in the list without a change here.
TEST_F(JsonTest, ListHasEveryFamily) {
  const Json data = this->data({"codec", "list"});
  ASSERT_EQ(data["codecs"].size(), codec_families().size());
  for (std::size_t i = 0; i < codec_families().size(); ++i) {
    const Json& codec = data["codecs"][i];
    EXPECT_EQ(codec["name"], codec_families()[i].name);
    EXPECT_THAT(keys(codec),
                UnorderedElementsAreArray({"name", "summary", "stages", "aggregation", "lossy",
                                           "conserves", "whole_layers", "parameters"}));
    EXPECT_GE(codec["stages"].size(), 1u);
    EXPECT_EQ(codec["parameters"].size(), codec_families()[i].params.size());
  }
}

// A codec with two stages, a numeric parameter and a choice.
TEST_F(JsonTest, ListShowsStagesAndParameters) {
  const Json data = this->data({"codec", "list"});
  const auto codec = std::find_if(data["codecs"].begin(), data["codecs"].end(),
                                  [](const Json& each) { return each["name"] == "int8_shared"; });
  ASSERT_NE(codec, data["codecs"].end());
  EXPECT_EQ(
      (*codec)["stages"],
      Json::parse(R"([{"name":"scales","combine":"max"},{"name":"levels","combine":"sum"}])"));
  EXPECT_EQ((*codec)["aggregation"], "sum");
  EXPECT_EQ((*codec)["lossy"], true);
  EXPECT_EQ((*codec)["whole_layers"], false);
  const auto matrices = std::find_if(data["codecs"].begin(), data["codecs"].end(),
                                     [](const Json& each) { return each["name"] == "powersgd"; });
  ASSERT_NE(matrices, data["codecs"].end());
  EXPECT_EQ((*matrices)["whole_layers"], true);
  const Json& block = (*codec)["parameters"][0];
  EXPECT_EQ(block["name"], "block");
  EXPECT_EQ(block["kind"], "power_of_two");
  EXPECT_EQ(block["min"], 64);
  EXPECT_EQ(block["default"], 4096);
  const Json& rounding = (*codec)["parameters"][1];
  EXPECT_EQ(rounding["choices"], Json::parse(R"(["nearest","random"])"));
  EXPECT_EQ(rounding["default"], "nearest");
}

// The codec in the answer is the canonical spec, without parameters at their defaults.
TEST_F(JsonTest, EncodeAndDecodeCountBytes) {
  const std::string in = update("in", 0);
  const Json encoded = data({"codec", "encode", "--codec", "int8:block=1024,rounding=nearest",
                             "--in", in, "--out", path("encoded"), "--bucket-values", "2Ki"});
  EXPECT_EQ(encoded["codec"], "int8:block=1024");
  EXPECT_EQ(encoded["values"], 5000);
  EXPECT_EQ(encoded["bucket_values"], 2048);
  EXPECT_EQ(encoded["seed"], 1);
  EXPECT_EQ(encoded["bytes_in"], 20000);
  EXPECT_EQ(encoded["bytes_out"], read("encoded").size());
  EXPECT_NEAR(encoded["ratio"], 20000.0 / static_cast<double>(read("encoded").size()), 1e-9);
  EXPECT_GT(encoded["seconds"], 0);

  const Json decoded = data({"codec", "decode", "--in", path("encoded"), "--out", path("out")});
  EXPECT_EQ(decoded["codec"], encoded["codec"]);
  EXPECT_EQ(decoded["bytes_in"], encoded["bytes_out"]);
  EXPECT_EQ(decoded["bytes_out"], encoded["bytes_in"]);
  EXPECT_EQ(decoded["ratio"], encoded["ratio"]);
  EXPECT_THAT(keys(decoded), UnorderedElementsAreArray(keys(encoded)));
}

// In a single round the mean error is that of the last round.
TEST_F(JsonTest, MeasureHasTheFieldsOfTheDesign) {
  const Json data = this->data(
      {"codec", "measure", "--codec", "int8", "--in", update("a", 0), "--in", update("b", 1)});
  EXPECT_THAT(keys(data), UnorderedElementsAreArray(
                              and_measured({"codec", "agents", "values", "rounds", "threads"})));
  EXPECT_EQ(data["codec"], "int8");
  EXPECT_EQ(data["agents"], 2);
  EXPECT_EQ(data["values"], 5000);
  EXPECT_EQ(data["rounds"], 1);
  EXPECT_NEAR(data["bits_per_value_up"], 32 / data["ratio_up"].get<double>(), 1e-9);
  EXPECT_GT(data["nmse"], 0);
  EXPECT_LT(data["nmse"], 0.01);
  EXPECT_EQ(data["nmse"], data["nmse_last"]);
}

// Over eight rounds the sum of the updates is nearly exact with feedback.
TEST_F(JsonTest, ErrorFeedbackBringsTheErrorDown) {
  const std::vector<std::string> args = {"codec", "measure",      "--codec",  "int8",
                                         "--in",  update("a", 0), "--rounds", "8"};
  std::vector<std::string> without = args;
  without.emplace_back("--no-error-feedback");
  const Json with_feedback = data(args);
  EXPECT_EQ(with_feedback["rounds"], 8);
  EXPECT_LT(with_feedback["nmse"].get<double>(), data(without)["nmse"].get<double>() / 4);
}

// Both produce the same bytes, hence exactly the same error.
TEST_F(JsonTest, BackendsMeasureTheSame) {
  const std::vector<std::string> args = {"codec", "measure", "--codec",
                                         "int8",  "--in",    update("a", 0)};
  std::vector<std::string> scalar = args;
  scalar.insert(scalar.end(), {"--backend", "scalar"});
  EXPECT_EQ(data(args)["nmse"], data(scalar)["nmse"]);
}

TEST_F(JsonTest, AnyNumberOfThreadsMeasuresTheSame) {
  const std::vector<std::string> args = {"codec", "measure", "--codec",
                                         "int8",  "--in",    update("a", 0)};
  std::vector<std::string> two = args;
  two.insert(two.end(), {"--threads", "2"});
  EXPECT_EQ(data(args)["threads"], 1);
  EXPECT_EQ(data(two)["threads"], 2);
  EXPECT_EQ(data(args)["nmse"], data(two)["nmse"]);
}

// One codec gives an object, several give a list.
TEST_F(JsonTest, SeveralCodecsAreRows) {
  const Json data = this->data(
      {"codec", "measure", "--codec", "fp32", "--codec", "fp16", "--in", update("a", 0)});
  ASSERT_EQ(data["codecs"].size(), 2u);
  EXPECT_EQ(data["codecs"][0]["codec"], "fp32");
  EXPECT_EQ(data["codecs"][0]["nmse"], 0);
  EXPECT_THAT(
      keys(data["codecs"][1]),
      UnorderedElementsAreArray(and_measured({"codec", "agents", "values", "rounds", "threads"})));
}

// 20,000 values keep this short; the fields are those of a large run.
TEST_F(JsonTest, DemoMeasuresEveryCodec) {
  const Json data =
      this->data({"codec", "compare", "--values", "20k", "--agents", "3", "--rounds", "4"});
  EXPECT_EQ(data["agents"], 3);
  EXPECT_EQ(data["values"], 20000);
  EXPECT_EQ(data["rounds"], 4);
  EXPECT_GT(data["memcpy_bytes_per_s"], 0);
  ASSERT_EQ(data["codecs"].size(), codec_families().size());
  for (const Json& row : data["codecs"]) {
    EXPECT_THAT(keys(row), UnorderedElementsAreArray(
                               and_measured({"codec", "stages", "aggregation", "nmse_first"})));
    if (row["codec"] != "int8") continue;
    EXPECT_LT(row["nmse"], row["nmse_first"]);
  }
}

// Only the named codec is measured.
TEST_F(JsonTest, DemoTakesCodecs) {
  const Json data =
      this->data({"codec", "compare", "--values", "1k", "--rounds", "2", "--codec", "fp16"});
  ASSERT_EQ(data["codecs"].size(), 1u);
  EXPECT_EQ(data["codecs"][0]["codec"], "fp16");
}

// A script reads one stream, whether the command succeeds or not.
TEST_F(JsonTest, ErrorsAreOneObjectOnStandardOutput) {
  const Outcome outcome =
      run({"codec", "encode", "--codec", "int8:blok=1", "--in", "x", "--out", "y", "--json"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "");
  const Json answer = Json::parse(outcome.out);
  EXPECT_EQ(answer["schema_version"], 1);
  EXPECT_EQ(answer["status"], "error");
  EXPECT_FALSE(answer.contains("data"));
  EXPECT_EQ(answer["error"]["code"], "invalid_argument");
  EXPECT_THAT(keys(answer["error"]),
              UnorderedElementsAreArray({"code", "message", "expected", "got", "remedy"}));
  EXPECT_EQ(answer["error"]["remedy"], "did you mean 'block'?");
}

// 21 is the exit code of not_found.
TEST_F(JsonTest, ErrorsOfTheInputToo) {
  const Outcome outcome = run({"codec", "decode", "--in", path("none"), "--out", "y", "--json"});
  EXPECT_EQ(outcome.code, 21);
  EXPECT_EQ(Json::parse(outcome.out)["error"]["code"], "not_found");
}

// The threshold is that of the normal distribution at p = 1/32.
TEST_F(JsonTest, PlanTableShowsItsChoice) {
  const Json data =
      this->data({"plan", "table", "--bits", "4", "--agents", "4", "--down-bits", "8"});
  EXPECT_THAT(keys(data), UnorderedElementsAreArray({"bits", "agents", "table", "granularity", "p",
                                                     "threshold", "sum_bits", "rounding_mse",
                                                     "truncation_mse", "expected_nmse"}));
  EXPECT_EQ(data["granularity"], 63);
  EXPECT_EQ(data["p"], 1.0 / 256);
  EXPECT_EQ(data["table"].size(), 16u);
  EXPECT_NEAR(data["expected_nmse"].get<double>(), 0.0052, 0.0001);
  const Json given = this->data(
      {"plan", "table", "--bits", "4", "--granularity", "30", "--p", "0.03125", "--agents", "4"});
  EXPECT_NEAR(given["threshold"].get<double>(), 2.15387469406, 1e-10);
}

// The choice has the shortest prediction, and compression is faster than dense everywhere on this
// link.
TEST_F(JsonTest, PlanCollectivePredictsAndChooses) {
  const std::vector<std::string> network = {"plan",     "collective", "--alpha-ms", "10",
                                            "--gbps",   "0.1",        "--params",   "25M",
                                            "--agents", "4"};
  std::vector<std::string> sparse = network;
  sparse.insert(sparse.end(), {"--cr", "0.01"});
  const Json data = this->data(sparse);
  EXPECT_THAT(keys(data),
              UnorderedElementsAreArray({"agents", "params", "cr", "alpha_s", "beta_s_per_byte",
                                         "buckets", "predicted_s", "codecs", "dense_s", "choice",
                                         "choice_codec", "table_one_s"}));
  const Json& predicted = data["predicted_s"];
  EXPECT_THAT(keys(predicted), UnorderedElementsAreArray({"star", "sharded_star", "ring", "tree",
                                                          "halving_doubling", "all_gather"}));
  for (const auto& [collective, seconds] : predicted.items()) {
    EXPECT_LE(predicted[data["choice"].get<std::string>()], seconds) << collective;
    EXPECT_GT(data["dense_s"][collective], seconds) << collective;
  }
  EXPECT_EQ(data["codecs"]["ring"], "star_topk:cr=0.01");
  EXPECT_EQ(data["codecs"]["all_gather"], "topk:cr=0.01");
  // 100 MB in a ring of four agents: each link carries 1.5 times the size, and latency adds less
  // than 0.5 s.
  EXPECT_NEAR(data["dense_s"]["ring"].get<double>(), 12.25, 0.25);
  EXPECT_NEAR(data["table_one_s"]["ring"].get<double>(), 12.06, 1e-9);

  const Json dense = this->data(network);
  EXPECT_EQ(dense["choice_codec"], "fp32");
  EXPECT_EQ(dense["predicted_s"], dense["dense_s"]);
}

// Headers of 50 % make the link's time 1.5 times as long; half a core takes twice as long to
// encode.
TEST_F(JsonTest, PlanCollectiveCountsHeadersAndWork) {
  const auto ring_s = [this](std::vector<std::string> more) {
    std::vector<std::string> words = {"plan", "collective", "--alpha-ms", "0",        "--gbps",
                                      "1",    "--params",   "1M",         "--agents", "4"};
    words.insert(words.end(), more.begin(), more.end());
    return this->data(words)["predicted_s"]["ring"].get<double>();
  };
  const double line_s = ring_s({});
  EXPECT_NEAR(ring_s({"--overhead", "50"}), 1.5 * line_s, 1e-9);
  // Encoding 32 Mbit at 0.1 Gbit/s takes 0.32 s.
  const double own_core_s = ring_s({"--encode-gbps", "0.1"});
  EXPECT_GT(own_core_s, 0.32);
  EXPECT_LT(own_core_s, 0.4);
  EXPECT_NEAR(ring_s({"--encode-gbps", "0.1", "--cores-per-agent", "0.5"}), 2 * own_core_s, 0.02);
}

// Measured figures depend on the machine, so only their presence is checked.
TEST_F(JsonTest, PlanCollectiveMeasuresCodecs) {
  const std::vector<std::string> network = {
      "plan", "collective", "--alpha-ms", "1", "--gbps", "1", "--params", "100k", "--agents", "4"};
  std::vector<std::string> measured = network;
  measured.insert(measured.end(), {"--cr", "0.1", "--measure"});
  const Json data = this->data(measured)["measured"];
  EXPECT_THAT(keys(data), UnorderedElementsAreArray({"fp32", "topk:cr=0.1", "star_topk:cr=0.1"}));
  EXPECT_EQ(data["star_topk:cr=0.1"]["stages"].size(), 2u);
  EXPECT_GT(data["star_topk:cr=0.1"]["decode_s"], 0);

  std::vector<std::string> one = network;
  one.insert(one.end(), {"--codec", "int8"});
  const Json int8 = this->data(one);
  for (const auto& [collective, codec] : int8["codecs"].items()) EXPECT_EQ(codec, "int8");
  EXPECT_LT(int8["predicted_s"]["ring"], int8["dense_s"]["ring"]);
}

// Each group costs 1 ms on the device and 1 ms on the network: one group overlaps nothing, and
// three groups cost a millisecond more than two.
TEST_F(JsonTest, PlanFusionGroupsTensors) {
  const std::string costs = R"("compress":{"alpha_s":0.001,"beta_s_per_byte":0},)"
                            R"("network":{"alpha_s":0.001,"beta_s_per_byte":1e-6})";
  const std::string lists = R"("backward_s":[0.01,0.01,0.01],"bytes":[8000,1000,1000])";
  const auto plan = [&](const std::string& more) {
    return this->data(
        {"plan", "fusion", "--in",
         this->write("profile.json", bytes_of("{" + lists + "," + costs + more + "}"))});
  };
  const Json data = plan("");
  EXPECT_THAT(keys(data), UnorderedElementsAreArray({"tensors", "bytes", "backward_s", "groups",
                                                     "iteration_s", "optimal", "baselines"}));
  EXPECT_EQ(data["tensors"], 3);
  EXPECT_EQ(data["optimal"], true);
  // Two tensors are sent while the last one is computed and compressed.
  EXPECT_EQ(data["groups"], Json({2, 1}));
  EXPECT_NEAR(data["iteration_s"].get<double>(), 0.03 + 0.002 + 0.002, 1e-12);
  EXPECT_THAT(keys(data["baselines"]), UnorderedElementsAreArray({"layer_wise", "one_bucket",
                                                                  "even_split", "size_threshold"}));
  EXPECT_NEAR(data["baselines"]["one_bucket"].get<double>(), 0.03 + 0.001 + 0.011, 1e-12);
  for (const auto& [rule, seconds] : data["baselines"].items()) {
    EXPECT_GE(seconds, data["iteration_s"]) << rule;
  }

  const Json decoded = plan(R"(,"decode":{"alpha_s":0.02,"beta_s_per_byte":0,"agents":4})");
  EXPECT_EQ(decoded["groups"], Json({3}));
  EXPECT_NEAR(decoded["iteration_s"].get<double>(), 0.03 + 0.001 + 0.011 + 0.08, 1e-12);
}

// 10 is a bad argument, 11 a damaged file, 21 a missing one.
TEST_F(JsonTest, PlanFusionRefusesFilesThatAreNoProfile) {
  const auto refused = [&](const std::string& text) {
    const std::string file = this->write("profile.json", bytes_of(text));
    const Outcome outcome = run({"plan", "fusion", "--in", file, "--json"});
    EXPECT_EQ(outcome.code, 10 + (text == "{" ? 1 : 0)) << outcome.err;
    return Json::parse(outcome.out)["error"];
  };
  EXPECT_EQ(refused("{")["code"], "corrupt_data");
  EXPECT_EQ(refused(R"({"byte":[1]})")["code"], "invalid_argument");
  EXPECT_EQ(run({"plan", "fusion", "--in", path("none"), "--json"}).code, 21);
}

}  // namespace
}  // namespace tributary
