// Encodes buckets whose input is on a device, and computes the residual that each leaves, without a
// copy of the input in host memory.
//
// The residual that a contribution would leave is copied to the host, because it is stored before
// the payload is sent: a process that is killed then loses nothing. If the device fails, the host
// takes over in the same call, with values copied from the device. The updates outlive it.
// Memory: one bucket on the device. Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "core/codec/device/device_vector.h"
#include "core/round/agent/replica/local_updates.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

class DeviceInput {
 public:
  // Encodes the values as the call says.
  using Encode = std::function<Status(const StageCall& call, std::span<const float> values)>;

  explicit DeviceInput(const LocalUpdates& updates) : updates_(updates) {}

  // Whether the bucket's input is on a device and its codec reads it there.
  bool has(const PlannedBucket& bucket) const {
    return updates_.on_device(bucket) != nullptr && encodes_from_device(*bucket.codec);
  }
  // Encodes the input of a bucket for which has() is true. Returns an error if the input is lost
  // with the device; the payload must then not be sent.
  Status encode(const PlannedBucket& bucket, const StageCall& call, const Encode& encode) const;
  // The same for values of `input`, on any thread that has it to itself. `read` is an error if the
  // input is lost; pass the bucket to lose() then.
  static Status encode_from(DeviceVector& input, const PlannedBucket& bucket, const StageCall& call,
                            const Encode& encode, Status& read);
  // The input is copied to the host once more, or given up.
  void lose(const PlannedBucket& bucket) const { updates_.bring_to_host(bucket); }
  // Computes the residual that the payload of such a bucket leaves. Returns false if the host must
  // compute it. Any thread may call it, one at a time, while the updates do not change.
  bool keep_residual(const PlannedBucket& bucket, const StageCall& call, ByteSpan payload,
                     std::span<float> left);

 private:
  Status keep(const PlannedBucket& bucket, const StageCall& call, ByteSpan payload,
              std::span<float> left);

  const LocalUpdates& updates_;
  std::shared_ptr<DeviceVector> decoded_;  // null until the first bucket
};

}  // namespace tributary
