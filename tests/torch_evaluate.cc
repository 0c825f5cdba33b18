// Evaluates an exported model without Tributary's trainer: libtorch runs the file, the loaders read
// the data, and nothing else of this project is used.
//
// usage: tributary-torch-evaluate MODEL.pt DATA [train|test]
// prints: examples N right M accuracy A
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/data/formats/open.h"

namespace {

using namespace tributary;

constexpr std::uint32_t kBatch = 100;

std::int64_t count_right(torch::jit::Module& model, const DataSet& data,
                         const std::vector<std::uint32_t>& examples) {
  Batch batch;
  if (const Status status = data.gather(examples, batch); !status.ok()) {
    throw std::runtime_error(status.text());
  }
  std::vector<std::int64_t> sizes = {static_cast<std::int64_t>(batch.count)};
  sizes.insert(sizes.end(), data.shape().dims.begin(), data.shape().dims.end());
  const bool tokens = data.shape().task == DataTask::next_token;
  const at::Tensor input = tokens ? at::from_blob(batch.tokens.data(), sizes, at::kLong)
                                  : at::from_blob(batch.features.data(), sizes, at::kFloat);
  const auto rows = static_cast<std::int64_t>(batch.labels.size());
  const at::Tensor labels = at::from_blob(batch.labels.data(), {rows}, at::kLong);
  const at::Tensor output = model.forward({input}).toTensor().reshape({rows, -1});
  return at::argmax(output, 1).eq(labels).sum().item().toLong();
}

int evaluate(const char* file, const char* path, DataPart part) {
  const Result<OpenedData> opened = open_data({.path = path, .part = part});
  if (!opened.ok()) throw std::runtime_error(opened.status().text());
  const DataSet& data = *opened->data;
  const at::NoGradGuard no_grad;
  torch::jit::Module model = torch::jit::load(file);
  std::int64_t right = 0;
  for (std::uint32_t first = 0; first < data.count(); first += kBatch) {
    std::vector<std::uint32_t> examples(std::min(kBatch, data.count() - first));
    std::iota(examples.begin(), examples.end(), first);
    right += count_right(model, data, examples);
  }
  fmt::print("examples {} right {} accuracy {}\n", data.count(), right,
             static_cast<double>(right) / static_cast<double>(data.count()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: tributary-torch-evaluate MODEL.pt DATA [train|test]\n");
    return 2;
  }
  try {
    const bool train = argc > 3 && std::strcmp(argv[3], "train") == 0;
    return evaluate(argv[1], argv[2], train ? DataPart::train : DataPart::test);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
