// Fuzz target: any bytes are refused with an error, or are a frame that can be read completely,
// unpacked, and built again with the same content.
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "schemas/fill_testing.h"
#include "schemas/frame.h"
#include "schemas/payload.h"

namespace {

using namespace tributary;

void require(bool holds) {
  if (!holds) std::abort();
}

void use_all_of(const wire::Frame& frame) {
  const std::vector<std::string> content = wire::Dump::of(frame);
  const auto claim = claim_of(frame);
  require(!claim.ok() || claim->bytes <= wire::kPayloadBytesMax);

  const std::unique_ptr<wire::FrameT> unpacked(frame.UnPack());
  const auto rebuilt = build_frame(*unpacked);
  if (!rebuilt.ok()) {
    // A table that was used twice is built twice, which may exceed a cap.
    require(rebuilt.status().code() == StatusCode::resource_exhausted);
    return;
  }
  const auto reopened = open_frame(*rebuilt);
  require(reopened.ok());
  const std::unique_ptr<wire::FrameT> again((*reopened)->UnPack());
  require(*again == *unpacked);
  require(!content.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A block of exactly this size, so that the sanitizer detects a read past its end.
  const Bytes bytes(data, data + size);
  const auto frame = open_frame(bytes);
  if (frame.ok()) {
    use_all_of(**frame);
  } else {
    const Status status = frame.status();
    require(!status.fault().what.empty() && !status.fault().expected.empty());
  }
  return 0;
}
