#include "core/store/coordinator/stored_frames.h"

#include "schemas/frame.h"

namespace tributary {
namespace {

// Verifies the frame; stored bytes are not trusted.
const wire::Frame* stored_frame(const SharedBytes& bytes) {
  if (!bytes) return nullptr;
  const Result<const wire::Frame*> frame = open_frame(ByteSpan(*bytes));
  return frame.ok() ? *frame : nullptr;
}

}  // namespace

const wire::Job* stored_job(const SharedBytes& frame) {
  const wire::Frame* const opened = stored_frame(frame);
  return opened ? opened->message_as_Job() : nullptr;
}

const wire::Plan* stored_plan(const SharedBytes& frame) {
  const wire::Frame* const opened = stored_frame(frame);
  return opened ? opened->message_as_Plan() : nullptr;
}

const wire::Plan* stored_plan(ByteSpan frame, Bytes& aligned) {
  const Result<const wire::Frame*> opened = open_frame(frame, aligned);
  return opened.ok() ? (*opened)->message_as_Plan() : nullptr;
}

std::string stored_text(const flatbuffers::String* text) {
  return text ? text->str() : std::string();
}

std::string_view stored_inputs(const wire::Plan& plan) {
  const wire::Reason* const reason = plan.reason();
  if (!reason || !reason->inputs()) return {};
  return {reinterpret_cast<const char*>(reason->inputs()->data()), reason->inputs()->size()};
}

const wire::Alternative* stored_choice(const wire::Plan& plan) {
  const wire::Reason* const reason = plan.reason();
  if (!reason || !reason->alternatives()) return nullptr;
  for (const wire::Alternative* alternative : *reason->alternatives()) {
    if (alternative->chosen()) return alternative;
  }
  return nullptr;
}

}  // namespace tributary
