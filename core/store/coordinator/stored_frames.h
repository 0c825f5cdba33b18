// Opens the frames that a coordinator's journal stores. A null result means that the frame is
// missing or that this build cannot read it. Results point into the given bytes and are valid as
// long as those.
#pragma once

#include <string>
#include <string_view>

#include "core/base/bytes/bytes.h"
#include "core/round/common/machine/records.h"
#include "schemas/frame_generated.h"

namespace tributary {

// The message of a stored frame, if it is of this type.
const wire::Job* stored_job(const SharedBytes& frame);
const wire::Plan* stored_plan(const SharedBytes& frame);
// For bytes at any alignment: they are copied to `aligned` if necessary.
const wire::Plan* stored_plan(ByteSpan frame, Bytes& aligned);

std::string stored_text(const flatbuffers::String* text);  // empty for a null pointer
// The inputs of the planner's decision (core/plan/inputs_text.h); empty if the plan does not
// contain them.
std::string_view stored_inputs(const wire::Plan& plan);
// The chosen alternative with its expected cost; null if the plan does not state it.
const wire::Alternative* stored_choice(const wire::Plan& plan);

}  // namespace tributary
