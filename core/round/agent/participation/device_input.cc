#include "core/round/agent/participation/device_input.h"

#include <utility>

#include "core/codec/device/codec_device.h"

namespace tributary {

Status DeviceInput::encode(const PlannedBucket& bucket, const StageCall& call,
                           const Encode& encode) const {
  Status read;
  Status encoded = encode_from(*updates_.on_device(bucket), bucket, call, encode, read);
  if (read.ok()) return encoded;
  lose(bucket);
  return read;
}

Status DeviceInput::encode_from(DeviceVector& input, const PlannedBucket& bucket,
                                const StageCall& call, const Encode& encode, Status& read) {
  const std::function<void()> before_host = [&] {
    if (Status status = input.bring_to_host(); read.ok()) read = std::move(status);
  };
  StageCall on_device = call;
  on_device.before_host = &before_host;
  return encode(on_device, input.stand_in().subspan(bucket.first_value, bucket.values));
}

bool DeviceInput::keep_residual(const PlannedBucket& bucket, const StageCall& call,
                                ByteSpan payload, std::span<float> left) {
  const Status kept = keep(bucket, call, payload, left);
  if (kept.ok()) return true;
  // The vector may be the host's now.
  decoded_.reset();
  // A device without the loops of the codec is no error.
  if (kept.code() != StatusCode::unsupported) call.execution.device->report(kept);
  return false;
}

Status DeviceInput::keep(const PlannedBucket& bucket, const StageCall& call, ByteSpan payload,
                         std::span<float> left) {
  CodecDevice& device = *call.execution.device;
  if (!decoded_ || decoded_->size() < bucket.values) {
    decoded_.reset();
    TRIBUTARY_ASSIGN(decoded_, device.vectors()->make(bucket.values));
  }
  bool on_host = false;
  const std::function<void()> before_host = [&] {
    on_host = true;
    ignore_error(decoded_->bring_to_host());
  };
  StageCall on_device = call;
  on_device.before_host = &before_host;
  TRIBUTARY_TRY(
      decode_contribution(bucket, on_device, payload, decoded_->stand_in().first(bucket.values)));
  if (on_host) return Status(StatusCode::unsupported, {.what = "decoding on the device"});
  return updates_.on_device(bucket)->keep_residual(bucket.first_value, *decoded_, left);
}

}  // namespace tributary
