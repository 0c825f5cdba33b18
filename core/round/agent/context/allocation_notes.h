// Notes the memory that an agent's device has allocated since the last note. After the first round
// of a job a device allocates nothing, so later notes are worth a look. Not thread-safe.
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "core/codec/device/codec_device.h"
#include "core/round/agent/context/agent_context.h"

namespace tributary {

class AllocationNotes {
 public:
  // Notes nothing without a device.
  void note_new(AgentContext& context) {
    const CodecDevice* const device = context.config.execution.device;
    const std::uint64_t all = device == nullptr ? 0 : device->allocations();
    if (device == nullptr || all == noted_) return;
    context.out.note(
        LogLevel::info, "device_allocated", device->name(),
        fmt::format("{} allocations of device memory since the last such note", all - noted_));
    noted_ = all;
  }

 private:
  std::uint64_t noted_ = 0;
};

}  // namespace tributary
