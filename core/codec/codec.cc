#include "core/codec/codec.h"

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

}  // namespace tributary
