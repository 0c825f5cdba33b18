// A frame of every kind as an object that a test may change, for the tests of the checks.
#pragma once

#include "schemas/fill_testing.h"
#include "schemas/frame.h"

namespace tributary {

// Returns a valid frame whose fields all have a value.
inline wire::FrameT filled_message(wire::Message kind) {
  wire::FrameT frame;
  for (const wire::FilledFrame& filled : wire::filled_frames()) {
    if (filled.kind == wire::name(kind)) wire::GetFrame(filled.bytes.data())->UnPackTo(&frame);
  }
  return frame;
}

}  // namespace tributary
