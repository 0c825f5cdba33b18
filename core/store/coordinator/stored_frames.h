// The frames that a coordinator's journal keeps, opened. Null: there is none, or this build cannot
// read it; what is pointed to is valid as long as the bytes are.
#pragma once

#include <string>
#include <string_view>

#include "core/base/bytes/bytes.h"
#include "core/round/common/machine/records.h"
#include "schemas/frame_generated.h"

namespace tributary {

const wire::Job* stored_job(const SharedBytes& frame);
const wire::Plan* stored_plan(const SharedBytes& frame);
// For bytes that begin anywhere: copied to `aligned` if they have to be.
const wire::Plan* stored_plan(ByteSpan frame, Bytes& aligned);

std::string stored_text(const flatbuffers::String* text);  // null: the empty text
// All that the plan was decided from (core/plan/inputs_text.h); empty: the plan does not hold it.
std::string_view stored_inputs(const wire::Plan& plan);
// The choice that is in force, with what it was expected to cost; null: it does not say.
const wire::Alternative* stored_choice(const wire::Plan& plan);

}  // namespace tributary
