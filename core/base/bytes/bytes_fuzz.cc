// Runs the byte reader with a program from the input, and compares it with a model that indexes the
// bytes one by one.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/base/bytes/bytes.h"

namespace tributary {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// A step reads a value of 1, 2, 4 or 8 bytes, takes or skips a range, or checks for the end.
class ByteModel {
 public:
  explicit ByteModel(ByteSpan data) : data_(data), reader_(data) {}

  void step(std::uint8_t code) {
    const std::size_t length = code >> 3;
    switch (code & 7u) {
      case 0:
        return read<std::uint8_t>();
      case 1:
        return read<std::uint16_t>();
      case 2:
        return read<std::uint32_t>();
      case 3:
        return read<std::uint64_t>();
      case 4:
        return read<float>();
      case 5:
        return take(length);
      case 6:
        return skip(length == 31 ? static_cast<std::size_t>(-1) : length);
      default:
        require(reader_.expect_end("end").ok() == (position_ == data_.size()));
    }
  }

 private:
  template <typename T>
  void read() {
    const auto value = reader_.read<T>("value");
    require(value.ok() == fits(sizeof(T)));
    if (!value.ok()) return check_position();
    const T got = *value;
    for (const std::uint8_t byte : bytes_of(std::span<const T>(&got, 1))) {
      require(byte == data_[position_++]);
    }
    check_position();
  }

  void take(std::size_t length) {
    const auto run = reader_.take(length, "run");
    require(run.ok() == fits(length));
    if (!run.ok()) return check_position();
    require(run->size() == length);
    for (const std::uint8_t byte : *run) require(byte == data_[position_++]);
    check_position();
  }

  void skip(std::size_t length) {
    const bool possible = fits(length);
    require(reader_.skip(length, "gap").ok() == possible);
    if (possible) position_ += length;
    check_position();
  }

  bool fits(std::size_t length) const { return length <= data_.size() - position_; }
  void check_position() const {
    require(reader_.position() == position_ && reader_.remaining() == data_.size() - position_);
  }

  const ByteSpan data_;
  ByteReader reader_;
  std::size_t position_ = 0;
};

// The first byte is the length of the program. The bytes after the program are its data.
void run(ByteSpan input) {
  if (input.empty()) return;
  const std::size_t steps = std::min<std::size_t>(input[0], input.size() - 1);
  const ByteSpan data = input.subspan(1 + steps);
  ByteModel bytes(data);
  for (const std::uint8_t code : input.subspan(1, steps)) bytes.step(code);
}

}  // namespace
}  // namespace tributary

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tributary::run({data, size});
  return 0;
}
