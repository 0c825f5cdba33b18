// Reads the recorded packets of slots.bin, for the test of an aggregator. make_vectors.py describes
// the format. The file is ours: a fault in it fails the test or throws.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/files/file.h"
#include "core/collective/in_network/slot_rules.h"

namespace tributary::in_network {

inline constexpr std::uint32_t kRecordedSlots = 4;  // that the recorded aggregator has

struct VectorRecord {
  enum class Kind : std::uint8_t { install = 1, restart, packet };
  Kind kind = Kind::restart;
  SlotJob job = {};
  std::uint16_t source = 0;  // a number for an address
  Bytes packet = {};
  ReplyTo to = ReplyTo::none;
  DropReason reason = DropReason::none;
  Bytes reply = {};
};

class VectorFile {
 public:
  static std::vector<VectorRecord> read(const std::string& path) {
    const auto bytes = read_file(path, 1u << 20);
    EXPECT_TRUE(bytes.ok()) << bytes.status().text();
    VectorFile file(*bytes);
    EXPECT_EQ(as_text(file.blob(4)), "TNV1");
    std::vector<VectorRecord> records;
    while (file.reader_.remaining() > 0) records.push_back(file.record());
    return records;
  }

 private:
  explicit VectorFile(ByteSpan bytes) : reader_(bytes) {}
  template <typename T>
  T number() {
    return reader_.read<T>("a vector").value();
  }
  Bytes blob(std::size_t size) {
    const ByteSpan span = reader_.take(size, "a vector").value();
    return Bytes(span.begin(), span.end());
  }
  VectorRecord record() {
    VectorRecord r = {.kind = static_cast<VectorRecord::Kind>(number<std::uint8_t>())};
    if (r.kind == VectorRecord::Kind::install) {
      r.job.handle = number<std::uint16_t>();
      r.job.epoch = number<std::uint32_t>();
      r.job.agents = number<std::uint8_t>();
      r.job.granularity = number<std::uint16_t>();
      r.job.table = number<std::uint16_t>();
      r.job.slots = number<std::uint16_t>();
      for (std::uint16_t& place : r.job.places) place = number<std::uint16_t>();
    } else if (r.kind == VectorRecord::Kind::packet) {
      r.source = number<std::uint16_t>();
      r.packet = blob(number<std::uint16_t>());
      r.to = static_cast<ReplyTo>(number<std::uint8_t>());
      r.reason = static_cast<DropReason>(number<std::uint8_t>());
      r.reply = blob(number<std::uint16_t>());
    }
    return r;
  }

  ByteReader reader_;
};

}  // namespace tributary::in_network
