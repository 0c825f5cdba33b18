// Shows that a comparison with the scalar specification finds faults in the steps of optimizers:
// copies of the kernels with one fault each (CMakeLists.txt) leave other bits.
#include <gtest/gtest.h>

#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/codec/cuda/optimizer/step_case_testing.h"

#include <planted_steps/lost_moment.cu>
#include <planted_steps/lost_tail.cu>
#include <planted_steps/no_fault_in_steps.cu>
#include <planted_steps/overlapping_turns.cu>
#include <planted_steps/repeated_head.cu>

namespace tributary::emulated {
namespace {

// Two blocks take several turns, and the run begins and ends between loads of four values.
bool is_the_specifications(decltype(make_step) step) {
  const optimizer::Formula formula = optimizer::Formula::adam;
  StepValues expected = StepValues::of(5 * kThreads * kPerThread + 3);
  StepValues got = expected;
  optimizer::step_scalar(formula, kStepFactors, expected.run(2));
  const auto queue = Queue::make(2);
  EXPECT_TRUE(queue.ok());
  EXPECT_TRUE(step_on_device(*queue, step, formula, 2, got).ok());
  return got.bits() == expected.bits();
}

TEST(PlantedSteps, AreFound) {
  EXPECT_TRUE(is_the_specifications(no_fault_in_steps::make_step));
#ifndef TRIBUTARY_FINDS_RACES  // these two are races, which the sanitizer reports before
  EXPECT_FALSE(is_the_specifications(repeated_head::make_step));
  EXPECT_FALSE(is_the_specifications(overlapping_turns::make_step));
#endif
  EXPECT_FALSE(is_the_specifications(lost_tail::make_step));
  EXPECT_FALSE(is_the_specifications(lost_moment::make_step));
}

}  // namespace
}  // namespace tributary::emulated
