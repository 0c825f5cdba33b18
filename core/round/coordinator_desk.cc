#include "core/round/coordinator_desk.h"

#include "core/base/random.h"

namespace tributary {

std::uint64_t CoordinatorDesk::draw() {
  while (true) {
    const StreamKey key = stream_key(
        {.job_seed = config.incarnation, .round = ++drawn_, .purpose = DrawPurpose::selection});
    const std::uint64_t number = (std::uint64_t{key.a} << 32) | key.b;
    if (number != 0) return number;
  }
}

void CoordinatorDesk::note(LogLevel level, std::string_view name, std::string_view reason,
                           std::string source, std::string text, const RoundKey& key) {
  out.emplace_back(Note{.level = level,
                        .name = name,
                        .reason = reason,
                        .source = std::move(source),
                        .text = std::move(text),
                        .job = key.job,
                        .round = key.round});
}

}  // namespace tributary
