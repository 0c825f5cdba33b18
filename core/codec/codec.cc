#include "core/codec/codec.h"

#include "core/codec/error_feedback.h"

namespace tributary {

std::string_view name(Combine combine) {
  switch (combine) {
    case Combine::max:
      return "max";
    case Combine::sum:
      return "sum";
    case Combine::broadcast:
      return "broadcast";
    case Combine::gather:
      return "gather";
  }
  return "unknown";
}

std::string_view name(Aggregation aggregation) {
  switch (aggregation) {
    case Aggregation::sum:
      return "sum";
    case Aggregation::reduce:
      return "reduce";
    case Aggregation::gather:
      return "gather";
  }
  return "unknown";
}

Status Codec::decode_add(const StageCall& call, ByteSpan payload, std::span<float> scratch,
                         std::span<float> sum) const {
  TRIBUTARY_TRY(decode(call, payload, scratch));
  // The payload was decoded into `scratch` first, so a refused payload has not touched `sum`.
  add_values(call.execution, scratch, sum);
  return {};
}

}  // namespace tributary
