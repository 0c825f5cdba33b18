// Files are encoded and decoded with every codec.
#include <gmock/gmock.h>

#include "cli/end_to_end/program_testing.h"
#include "core/codec/file/encoded_file_testing.h"
#include "core/codec/registry.h"
#include "core/update/synthetic.h"

namespace tributary {
namespace {

using program_testing::Outcome;
using program_testing::ProgramTest;
using program_testing::run;
using testing::ElementsAre;

FloatVector gradient(std::size_t values) {
  FloatVector out(values);
  fill_agent_gradient({.seed = 5}, 0, out);
  return out;
}

class RoundTrip : public ProgramTest, public testing::WithParamInterface<std::string> {
 protected:
  void encode(std::vector<std::string> options) const {
    options.insert(options.begin(), {"codec", "encode", "--codec", GetParam(), "--in", path("in"),
                                     "--out", path("encoded")});
    const Outcome outcome = run(options);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  void decode(std::vector<std::string> options) const {
    options.insert(options.begin(),
                   {"codec", "decode", "--in", path("encoded"), "--out", path("out")});
    const Outcome outcome = run(options);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
};

TEST_P(RoundTrip, WritesTheBytesOfTheLibrary) {
  const auto codec = make_codec(GetParam());
  ASSERT_TRUE(codec.ok());
  for (const std::size_t count : {0u, 1u, 70'001u}) {
    const FloatVector values = gradient(count);
    write_floats("in", values);
    encode({"--seed", "9", "--bucket-values", "32Ki"});
    decode({});
    const Result<Bytes> file =
        encoded_file_testing::encode(**codec, {.bucket_values = 32 << 10, .job_seed = 9}, values);
    ASSERT_TRUE(file.ok()) << file.status().text();
    EXPECT_TRUE(read_bytes("encoded") == *file) << count << " values";
    const Result<FloatVector> decoded = encoded_file_testing::decode(*file);
    ASSERT_TRUE(decoded.ok()) << decoded.status().text();
    EXPECT_TRUE(read_floats("out") == *decoded) << count << " values";
    EXPECT_TRUE((*codec)->lossy() || *decoded == values);
  }
}

TEST_P(RoundTrip, DoesNotDependOnThreads) {
  write_floats("in", gradient(200'000));
  encode({"--threads", "1", "--bucket-values", "3000"});
  decode({"--threads", "1"});
  const std::string encoded = read("encoded");
  const std::string decoded = read("out");
  encode({"--threads", "3", "--bucket-values", "3000"});
  decode({"--threads", "3"});
  EXPECT_TRUE(read("encoded") == encoded);
  EXPECT_TRUE(read("out") == decoded);
}

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const CodecFamily& family : codec_families()) names.emplace_back(family.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Codecs, RoundTrip, testing::ValuesIn(families()),
                         [](const auto& family) { return family.param; });

using InPlace = ProgramTest;

TEST_F(InPlace, TheSameFileMayBeInAndOut) {
  const FloatVector values = gradient(10'000);
  const std::string file = write_floats("update", values);
  EXPECT_EQ(run({"codec", "encode", "--codec", "fp32", "--in", file, "--out", file}).code, 0);
  EXPECT_NE(read("update").size(), values.size() * sizeof(float));
  EXPECT_EQ(run({"codec", "decode", "--in", file, "--out", file}).code, 0);
  EXPECT_TRUE(read_floats("update") == values);
  EXPECT_THAT(names(), ElementsAre("update"));
}

TEST_F(InPlace, SeedsChangeRandomRounding) {
  write_floats("in", gradient(1000));
  const auto encode = [&](const std::string& seed, const std::string& out) {
    EXPECT_EQ(run({"codec", "encode", "--codec", "int8:rounding=random", "--seed", seed, "--in",
                   path("in"), "--out", path(out)})
                  .code,
              0);
    EXPECT_EQ(run({"codec", "decode", "--in", path(out), "--out", path(out)}).code, 0);
  };
  encode("1", "one");
  encode("1", "again");
  encode("2", "two");
  EXPECT_TRUE(read("one") == read("again"));
  EXPECT_FALSE(read("one") == read("two"));
}

}  // namespace
}  // namespace tributary
