#include "core/store/coordinator/readable.h"

#include <algorithm>
#include <vector>

#include "core/store/coordinator/stored_frames.h"
#include "core/store/coordinator/telemetry_rows.h"

namespace tributary {
namespace {

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
  const wire::Job* job = stored_job(definition);
  if (!job) return std::nullopt;
  return stored_text(job->name());
}

// The plan may have several exchanges; their codecs and collectives are joined.
ReadablePlan readable_plan(const SharedBytes& bytes) {
  const wire::Plan* plan = stored_plan(bytes);
  ReadablePlan out;
  if (!plan) return out;
  out.quorum = plan->quorum();
  out.deadline_ms = plan->deadline_ms();
  if (const wire::Reason* reason = plan->reason()) {
    out.trigger = wire::EnumNameTrigger(reason->trigger());
    out.sentence = stored_text(reason->sentence());
  }
  std::vector<std::string> codecs;
  std::vector<std::string> collectives;
  if (plan->exchanges()) {
    for (const wire::Exchange* exchange : *plan->exchanges()) {
      add_once(codecs, stored_text(exchange->codec()));
      add_once(collectives, wire::EnumNameCollective(exchange->collective()));
    }
  }
  out.codecs = joined(codecs);
  out.collectives = joined(collectives);
  return out;
}

// Bytes 10xxxxxx continue a UTF-8 character, so the cut moves back to a byte that begins one.
std::string_view short_text(std::string_view text) {
  if (text.size() <= kTelemetryTextBytesMax) return text;
  std::size_t size = kTelemetryTextBytesMax;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0u) == 0x80u) --size;
  return text.substr(0, size);
}

}  // namespace tributary
