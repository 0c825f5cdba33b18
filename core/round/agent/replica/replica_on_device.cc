#include "core/round/agent/replica/replica_on_device.h"

#include <functional>
#include <utility>

#include "core/codec/device/codec_device.h"
#include "core/optimizer/device_loops.h"

namespace tributary {
namespace {

// The host decodes the round again, and finds the error of a payload.
Status host_decodes() {
  return Status(StatusCode::unsupported, {.what = "decoding on the device"});
}

}  // namespace

void ReplicaOnDevice::drop() {
  id_.reset();
  model_.reset();
  rule_.reset();
  sum_.reset();
}

// A bucket that the host decodes costs a copy of its sum to the device.
bool ReplicaOnDevice::suits(const RoundPlan& plan,
                            const std::vector<CommittedBucket>& buckets) const {
  CodecDevice* const device = execution_.device;
  if (device == nullptr || device->lost() || device->optimizer() == nullptr) return false;
  std::uint64_t there = 0;
  std::uint64_t all = 0;
  for (const CommittedBucket& committed : buckets) {
    const std::uint64_t values = plan.buckets()[committed.bucket].values;
    all += values;
    if (decodes_on_device(plan, committed)) there += values;
  }
  return there > 0 && 2 * there >= all;
}

std::optional<ReplicaOnDevice::After> ReplicaOnDevice::apply(
    const RoundPlan& plan, const std::vector<CommittedBucket>& buckets, const Before& before,
    FloatVector& scratch) {
  if (suits(plan, buckets)) {
    Result<After> after = try_to_apply(plan, buckets, before, scratch);
    if (after.ok()) return std::move(*after);
    if (after.status().code() != StatusCode::unsupported) {
      execution_.device->report(after.status());
    }
  }
  drop();
  return std::nullopt;
}

Result<ReplicaOnDevice::After> ReplicaOnDevice::try_to_apply(
    const RoundPlan& plan, const std::vector<CommittedBucket>& buckets, const Before& before,
    FloatVector& scratch) {
  if (id_ != before.id) TRIBUTARY_TRY(copy(before));
  std::uint32_t begun = 0;
  const auto begin_up_to = [&](std::uint32_t exchanges) {
    for (; begun < exchanges; ++begun) rule_->begin();
  };
  for (const CommittedBucket& committed : buckets) {
    begin_up_to(plan.buckets()[committed.bucket].exchange + 1);
    TRIBUTARY_TRY(apply_bucket(plan, committed, scratch));
  }
  begin_up_to(plan.exchanges());
  After after = {.model = std::make_shared<FloatVector>(before.model.size()), .rule_state = {}};
  TRIBUTARY_TRY(model_->read(0, *after.model));
  TRIBUTARY_ASSIGN(after.rule_state, rule_->save());
  return after;
}

Status ReplicaOnDevice::copy(const Before& before) {
  drop();
  TRIBUTARY_ASSIGN(model_, execution_.device->vectors()->make(before.model.size()));
  TRIBUTARY_TRY(model_->write(0, before.model));
  TRIBUTARY_ASSIGN(rule_, before.rule.on_device(*execution_.device));
  return {};
}

Status ReplicaOnDevice::apply_bucket(const RoundPlan& plan, const CommittedBucket& committed,
                                     FloatVector& scratch) {
  TRIBUTARY_ASSIGN(const std::span<float> sum, sum_of(plan, committed, scratch));
  return rule_->apply({.first_value = plan.buckets()[committed.bucket].first_value,
                       .sum = sum,
                       .divisor = committed.divisor,
                       .learning_rate = plan.wire().learning_rate},
                      *model_);
}

// The sum begins where the device can load and store as many values at once as in the model.
Result<std::span<float>> ReplicaOnDevice::sum_of(const RoundPlan& plan,
                                                 const CommittedBucket& committed,
                                                 FloatVector& scratch) {
  const PlannedBucket& bucket = plan.buckets()[committed.bucket];
  const std::size_t at = bucket.first_value % optimizer::kStepAlignment;
  if (!sum_ || sum_->size() < at + bucket.values) {
    sum_.reset();
    TRIBUTARY_ASSIGN(sum_,
                     execution_.device->vectors()->make(optimizer::kStepAlignment + bucket.values));
  }
  const std::span<float> sum = sum_->stand_in().subspan(at, bucket.values);
  if (!decodes_on_device(plan, committed)) {
    if (!decode_bucket(plan, committed, execution_, scratch).ok()) return host_decodes();
    TRIBUTARY_TRY(sum_->write(at, scratch));
    return sum;
  }
  bool on_host = false;
  const std::function<void()> before_host = [&] {
    on_host = true;
    ignore_error(sum_->bring_to_host());
  };
  const Status decoded = decode_bucket_on_device(plan, committed, execution_, before_host, sum);
  if (on_host || !decoded.ok()) return host_decodes();
  return sum;
}

}  // namespace tributary
