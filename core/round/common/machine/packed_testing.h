// Messages as the state machines read them, for unit tests.
#pragma once

#include <flatbuffers/flatbuffers.h>

namespace tributary::round_testing {

// A message as an object reads it; owns the bytes. It need not keep the rules of a frame.
template <typename MessageT>
class Packed {
 public:
  using Table = typename MessageT::TableType;

  explicit Packed(const MessageT& message) { builder_.Finish(Table::Pack(builder_, &message)); }
  const Table& operator*() const {
    return *flatbuffers::GetRoot<Table>(builder_.GetBufferPointer());
  }

 private:
  flatbuffers::FlatBufferBuilder builder_;
};

}  // namespace tributary::round_testing
