// A NetworkPlan as a function in TorchScript's language: the same operations in the same order, so
// that a model which is written down computes what it computed here.
#pragma once

#include <string>

#include "core/train/model/network_plan.h"

namespace tributary {

// "def forward(self, x): ...". Layers are reached by the names that the plan gives them, with a
// module for each part before a dot: "stage1.0.conv1.weight". In training, batch norm goes by
// self.training, which the module has to have.
std::string script_source(const NetworkPlan& plan);

}  // namespace tributary
