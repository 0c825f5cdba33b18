// Frames that pass FlatBuffers' verifier and must still be refused. Each case makes one change to a
// valid frame and names the field that the error must mention. Checks.RefuseAndSayWhy tests the
// cases of all files (checks_test.cc).
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "schemas/frame.h"

namespace tributary::wrong_frames {

using wire::FrameT;

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr auto kCorrupt = StatusCode::corrupt_data;
inline constexpr auto kOverCap = StatusCode::resource_exhausted;

// A valid frame of `kind` that `spoil` makes invalid. The error has this code and names the field
// `named`.
struct Wrong {
  std::string name;
  wire::Message kind;
  std::function<void(FrameT&)> spoil;
  std::string named;
  StatusCode code;
};

inline void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.name; }

inline Wrong wrong_envelope(std::string name, wire::Message kind,
                            std::function<void(FrameT&)> spoil, std::string named) {
  return {std::move(name), kind, std::move(spoil), std::move(named), kCorrupt};
}

template <typename MessageT>
Wrong wrong(std::string name, void (*spoil)(MessageT&), std::string named,
            StatusCode code = kCorrupt) {
  const auto spoil_frame = [spoil](FrameT& frame) {
    spoil(*static_cast<MessageT*>(frame.message.value));
  };
  return {std::move(name), wire::MessageUnionTraits<MessageT>::enum_value, spoil_frame,
          std::move(named), code};
}

inline std::string case_name(const ::testing::TestParamInfo<Wrong>& wrong_case) {
  return std::string(wire::name(wrong_case.param.kind)) + wrong_case.param.name;
}

class Checks : public ::testing::TestWithParam<Wrong> {};

}  // namespace tributary::wrong_frames
