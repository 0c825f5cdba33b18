// Vectors of the trainer's library use the memory of the program that loads it.
#include <gtest/gtest.h>

#include <memory>

#include "core/base/bytes/block_cache.h"
#include "core/base/memory_checked.h"
#include "core/train/model/network_plan.h"
#include "core/train/model_tools.h"

namespace tributary {
namespace {

// Without the exported function the library has a cache of its own, and nothing else shows it: an
// agent then needs the memory of one more update.
TEST(TorchPlugin, VectorsUseTheCacheOfTheProgram) {
  if (kMemoryIsChecked) GTEST_SKIP() << "the address sanitizer sees each vector by itself";
  TrainingJob job;
  job.model = "mlp:hidden=1024,depth=1";
  job.input = {.dims = {1, 28, 28}, .classes = 10};
  const Result<NetworkPlan> plan = plan_network(job.model, job.input);
  ASSERT_TRUE(plan.ok()) << plan.status().text();
  job.layer_map_hash = layer_map_of(*plan)->hash();

  const auto tools = make_model_tools({.threads = 1, .library = TRIBUTARY_TORCH_PLUGIN});
  ASSERT_TRUE(tools.ok()) << tools.status().text();
  const Status prepared = (*tools)->prepare(job, nullptr);
  ASSERT_TRUE(prepared.ok()) << prepared.text();
  const FloatVector model = initial_model(*plan, 1);
  const std::size_t before = block_cache().usage().used_bytes;
  const Result<Bytes> script = (*tools)->export_script(model);
  ASSERT_TRUE(script.ok()) << script.status().text();
  ASSERT_GE(script->size(), kLargeBlockBytes) << "smaller ones do not come from the cache";
  EXPECT_GE(block_cache().usage().used_bytes, before + script->size());
}

}  // namespace
}  // namespace tributary
