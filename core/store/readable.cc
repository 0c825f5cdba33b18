#include "core/store/readable.h"

#include <algorithm>
#include <vector>

#include "core/store/telemetry_rows.h"
#include "schemas/frame.h"

namespace tributary {
namespace {

const wire::Frame* opened(const SharedBytes& bytes) {
  if (!bytes) return nullptr;
  const Result<const wire::Frame*> frame = open_frame(ByteSpan(*bytes));
  return frame.ok() ? *frame : nullptr;
}

std::string text_of(const flatbuffers::String* text) { return text ? text->str() : ""; }

void add_once(std::vector<std::string>& list, std::string item) {
  if (std::ranges::find(list, item) == list.end()) list.push_back(std::move(item));
}

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : ", ") + item;
  return text;
}

}  // namespace

std::optional<std::string> readable_job_name(const SharedBytes& definition) {
  const wire::Frame* frame = opened(definition);
  const wire::Job* job = frame ? frame->message_as_Job() : nullptr;
  if (!job) return std::nullopt;
  return text_of(job->name());
}

ReadablePlan readable_plan(const SharedBytes& bytes) {
  const wire::Frame* frame = opened(bytes);
  const wire::Plan* plan = frame ? frame->message_as_Plan() : nullptr;
  ReadablePlan out;
  if (!plan) return out;
  out.quorum = plan->quorum();
  out.deadline_ms = plan->deadline_ms();
  if (const wire::Reason* reason = plan->reason()) {
    out.trigger = wire::EnumNameTrigger(reason->trigger());
    out.sentence = text_of(reason->sentence());
  }
  std::vector<std::string> codecs;
  std::vector<std::string> collectives;
  if (plan->exchanges()) {
    for (const wire::Exchange* exchange : *plan->exchanges()) {
      add_once(codecs, text_of(exchange->codec()));
      add_once(collectives, wire::EnumNameCollective(exchange->collective()));
    }
  }
  out.codecs = joined(codecs);
  out.collectives = joined(collectives);
  return out;
}

std::string_view short_text(std::string_view text) {
  if (text.size() <= kTelemetryTextBytesMax) return text;
  std::size_t size = kTelemetryTextBytesMax;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0u) == 0x80u) --size;
  return text.substr(0, size);
}

}  // namespace tributary
