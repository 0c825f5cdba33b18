// Fuzz target: any bytes are a question or an error, and a question that is packed again has the
// same content.
#include <cstdlib>

#include "core/watch/watch_message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const Bytes bytes(data, data + size);
  const Result<WatchQuestion> question = unpack_question(bytes);
  if (!question.ok()) {
    if (question.status().fault().expected.empty()) std::abort();
    return 0;
  }
  const Result<Bytes> packed = pack_question(*question);
  if (!packed.ok()) return 0;  // with another layout it may exceed the limit
  const Result<WatchQuestion> again = unpack_question(*packed);
  if (!again.ok() || again->number != question->number) std::abort();
  if (again->body.index() != question->body.index()) std::abort();
  return 0;
}
