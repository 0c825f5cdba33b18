#include "cli/codec/file_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/json.h"
#include "cli/text.h"

namespace tributary {

Answer file_answer(const FileReport& report) {
  const std::uint64_t values = report.float_bytes / sizeof(float);
  const auto float_bytes = static_cast<double>(report.float_bytes);
  const double seconds = std::chrono::duration<double>(report.time).count();
  const double ratio = float_bytes / static_cast<double>(report.encoded_bytes);
  // Both directions are rated by their float32 bytes, so that encoding and decoding compare. A
  // clock that did not advance must not cause a division by zero.
  const double rate = float_bytes / std::max(seconds, 1e-9);
  const std::uint64_t bytes_in = report.encoding ? report.float_bytes : report.encoded_bytes;
  const std::uint64_t bytes_out = report.encoding ? report.encoded_bytes : report.float_bytes;
  Answer answer;
  answer.text = fmt::format(
      "{} -> {}\n"
      "  {}, {} values\n"
      "  {} bytes in, {} out: {}\n"
      "  {} including reading, writing and syncing: {} of float32\n",
      printable(report.in), printable(report.out), report.codec, count_text(values),
      count_text(bytes_in), count_text(bytes_out), ratio_text(ratio), seconds_text(seconds),
      rate_text(rate));
  answer.data = json_text({{"codec", report.codec},
                           {"values", values},
                           {"bucket_values", report.bucket_values},
                           {"seed", report.job_seed},
                           {"bytes_in", bytes_in},
                           {"bytes_out", bytes_out},
                           {"ratio", ratio},
                           {"seconds", seconds},
                           {"bytes_per_s", rate}});
  return answer;
}

}  // namespace tributary
