// Translates a NetworkPlan to a function in TorchScript's language. It has the same operations in
// the same order as the built-in network, so an exported model computes the same. A pure function;
// it cannot fail for a plan that plan_network() returned.
#pragma once

#include <string>

#include "core/train/model/network_plan.h"

namespace tributary {

// Returns the text "def forward(self, x): ...". Layers are accessed by their names in the plan;
// each part before a dot is a module ("stage1.0.conv1.weight"). Batch norm reads self.training, so
// the module must have this attribute.
std::string script_source(const NetworkPlan& plan);

}  // namespace tributary
