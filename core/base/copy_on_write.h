// Large values that several hold and one changes: it changes its own copy, and copies only where
// somebody else still holds the value.
#pragma once

#include <memory>

namespace tributary {

// What `shared` points to, to be changed. Not null. Others may let go of it meanwhile, on any
// thread, but nobody else may take hold of it.
template <class Value>
Value& own(std::shared_ptr<Value>& shared) {
  if (shared.use_count() > 1) shared = std::make_shared<Value>(*shared);
  return *shared;
}

}  // namespace tributary
