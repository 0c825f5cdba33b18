// A reference to a callable for the duration of a call: two pointers, no allocation. It must not
// outlive the callable. Use it as a parameter type and never store it.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace tributary {

template <typename Signature>
class FunctionRef;

template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  // Accepts objects with a call operator. A plain function must be passed as a lambda.
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, FunctionRef> &&
           std::is_class_v<std::remove_cvref_t<F>> && std::is_invocable_r_v<R, F&, Args...>)
      FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> R {
          return std::invoke(*static_cast<std::remove_reference_t<F>*>(object),
                             std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace tributary
