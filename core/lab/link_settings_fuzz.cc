// Fuzzes link settings: accepted settings are in range, and their text has the same meaning.
#include <cstdlib>
#include <string_view>

#include "core/lab/link_settings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto require = [](bool condition) {
    if (!condition) std::abort();
  };
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<NodeSettings> node = parse_node_settings(text);
  LinkSettings link;
  if (!set_link(link, node.ok() ? std::string_view(node->settings) : text).ok()) {
    require(!node.ok());
    return 0;
  }
  require(link.loss >= 0 && link.loss <= 1 && link.reorder >= 0 && link.reorder <= 1);
  require(link.delay.count() >= 0 && link.jitter.count() >= 0);
  require(queue_bytes_for(link, link.up_bits_per_s, 1500) > 0);
  if (link.trace.find(',') != std::string::npos || link_text(link) == "unlimited") return 0;
  // The text has six digits, so it is stable after the first conversion.
  LinkSettings again;
  require(set_link(again, link_text(link)).ok());
  require(again.trace == link.trace && again.queue_bytes == link.queue_bytes);
  LinkSettings third;
  require(set_link(third, link_text(again)).ok());
  require(link_text(third) == link_text(again));
  return 0;
}
