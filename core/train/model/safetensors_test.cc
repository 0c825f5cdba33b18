// Tests of the safetensors format. Values are compared bit by bit, and claimed lengths are not
// believed.
#include "core/train/model/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>

namespace tributary {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

// Compares values by their bits, so that NaNs and signed zeros count.
Bytes bytes_of_values(std::span<const float> values) {
  Bytes bytes(values.size_bytes());
  std::memcpy(bytes.data(), values.data(), values.size_bytes());
  return bytes;
}

LayerMap two_layers() {
  return *LayerMap::make({{.name = "conv.weight", .shape = {2, 3}}, {.name = "b", .shape = {}}});
}

Bytes file_of(const std::string& header, std::size_t data_bytes) {
  Bytes file;
  for (std::size_t i = 0; i < 8; ++i) {
    file.push_back(static_cast<std::uint8_t>(std::uint64_t{header.size()} >> (8 * i)));
  }
  const ByteSpan text = bytes_of(header);
  file.insert(file.end(), text.begin(), text.end());
  file.resize(file.size() + data_bytes);
  return file;
}

std::string tensor(const std::string& dtype, const std::string& shape, const std::string& place) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + place + "}";
}

Status refusal(const std::string& header, std::size_t data_bytes) {
  const auto read = read_safetensors(file_of(header, data_bytes));
  EXPECT_FALSE(read.ok()) << header;
  return read.status();
}

void expect_damaged(const std::string& header, std::size_t data_bytes) {
  const Status status = refusal(header, data_bytes);
  EXPECT_EQ(status.code(), StatusCode::corrupt_data) << status.text();
}

// The expected bytes are those of the format's own description.
TEST(Safetensors, FollowTheFormat) {
  const FloatVector values = {1, -2, 3, 4, 5, 6, 7};
  const auto file = write_safetensors(two_layers(), values, {{"round", "12"}});
  ASSERT_TRUE(file.ok()) << file.status().text();
  const std::string header = R"({"__metadata__":{"round":"12"},)"
                             R"("conv.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                             R"("b":{"dtype":"F32","shape":[],"data_offsets":[24,28]}})";
  const std::size_t length = (header.size() + 7) / 8 * 8;
  ASSERT_EQ(file->size(), 8 + length + 28);
  EXPECT_EQ((*file)[0], length);
  EXPECT_EQ(std::string(file->begin() + 8, file->begin() + 8 + static_cast<long>(header.size())),
            header);
  EXPECT_THAT(ByteSpan(*file).subspan(8 + length), ElementsAreArray(bytes_of_values(values)));
}

TEST(Safetensors, ComeBackAsTheyWere) {
  const LayerMap layers = *LayerMap::make({{.name = "z \"quoted\" ä", .shape = {2}},
                                           {.name = "empty", .shape = {0, 4}},
                                           {.name = "a", .shape = {1, 1, 1}}});
  const FloatVector values = {std::numeric_limits<float>::quiet_NaN(), -0.0f, 3e-45f};
  const SafetensorsMetadata metadata = {{"job", "digits\n\"1\""}, {"hash", "ff"}};
  const auto file = write_safetensors(layers, values, metadata);
  ASSERT_TRUE(file.ok()) << file.status().text();
  const auto read = read_safetensors(*file);
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(read->layers.hash(), layers.hash());
  EXPECT_EQ(read->metadata, metadata);
  EXPECT_EQ(bytes_of_values(read->values), bytes_of_values(values));
}

TEST(Safetensors, TheOrderIsThatOfTheValues) {
  const auto read = read_safetensors(file_of(R"({"a":)" + tensor("F32", "[1]", "[8,12]") +
                                                 R"(,"b":)" + tensor("F32", "[2]", "[0,8]") + "}  ",
                                             12));
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(read->layers.layers()[0].name, "b");
}

TEST(Safetensors, DamagedFilesAreRefused) {
  const std::string good = R"({"a":)" + tensor("F32", "[2]", "[0,8]") + "}";
  ASSERT_TRUE(read_safetensors(file_of(good, 8)).ok());
  EXPECT_EQ(refusal(good, 7).code(), StatusCode::corrupt_data);
  EXPECT_EQ(refusal(good, 12).code(), StatusCode::corrupt_data);
  expect_damaged(R"({"a":)" + tensor("F32", "[2]", "[4,12]") + "}", 12);
  expect_damaged(R"({"a":)" + tensor("F32", "[3]", "[0,8]") + "}", 8);
  EXPECT_EQ(refusal(R"({"a":)" + tensor("F32", "[4294967296,4294967296]", "[0,0]") + "}", 0).code(),
            StatusCode::resource_exhausted);
  expect_damaged(R"({"a":)" + tensor("F32", "[2]", "[8,0]") + "}", 8);
  expect_damaged(R"({"a":)" + tensor("F32", "[-2]", "[0,8]") + "}", 8);
  expect_damaged(R"({"a":)" + tensor("F32", "[2.0]", "[0,8]") + "}", 8);
  expect_damaged(R"({"a":)" + tensor("F32", "[2]", "[0]") + "}", 8);
  expect_damaged(R"({"a":{"dtype":"F32"}})", 8);
  expect_damaged(
      R"({"a":)" + tensor("F32", "[2]", "[0,8]") + R"(,"b":)" + tensor("F32", "[2]", "[0,8]") + "}",
      8);
  expect_damaged("[1,2]", 0);
  expect_damaged("{", 0);
  expect_damaged("", 0);
  expect_damaged(R"({"a":[[[[1]]]]})", 0);
  expect_damaged(R"({"__metadata__":{"n":1}})", 0);
  EXPECT_EQ(refusal(R"({"a":)" + tensor("BF16", "[2]", "[0,4]") + "}", 4).code(),
            StatusCode::unsupported);
  const Bytes file = file_of(good, 8);
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(read_safetensors(ByteSpan(file).first(size)).ok()) << size;
  }
}

TEST(Safetensors, ALengthIsNotBelieved) {
  Bytes file(64);
  for (std::size_t i = 0; i < 8; ++i) file[i] = 0xff;
  EXPECT_EQ(read_safetensors(file).status().code(), StatusCode::corrupt_data);
  expect_damaged(std::string(kSafetensorsHeaderMax + 1, ' '), 0);
}

TEST(Safetensors, ValuesThatAreNotTheMapsAreRefused) {
  EXPECT_EQ(write_safetensors(two_layers(), FloatVector(6), {}).status().code(),
            StatusCode::invalid_argument);
  const LayerMap taken = *LayerMap::make({{.name = "__metadata__", .shape = {1}}});
  EXPECT_FALSE(write_safetensors(taken, FloatVector(1), {}).ok());
}

}  // namespace
}  // namespace tributary
