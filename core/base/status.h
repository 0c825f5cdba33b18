// Errors as values. A Status describes an error in four parts, so that its reader knows what to do:
// the thing concerned, the expected state, the actual state and the remedy.
//
// A Status owns its texts; an ok status allocates nothing. It may move between threads, but one
// object is not shared by threads that change it.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tributary {

enum class StatusCode : std::uint8_t {
  ok,
  invalid_argument,    // the caller's request makes no sense
  corrupt_data,        // bytes that violate their own format
  not_finite,          // NaN or Inf where finite numbers are required
  mismatch,            // two things that must agree differ
  not_found,           //
  already_exists,      //
  unsupported,         // well formed, but not implemented in this build or version
  resource_exhausted,  // a stated limit was reached
  io_error,            // the operating system refused
  deadline_exceeded,   //
  unavailable,         // may succeed later
  cancelled,           //
  permission_denied,   // the key is not allowed to do this
};
// Observers receive codes as numbers, so new codes are added at the end.
inline constexpr StatusCode kLastStatusCode = StatusCode::permission_denied;

std::string_view name(StatusCode code);

// The description of an error. `what` names the thing and the position in it ("payload header, byte
// 12").
struct Fault {
  std::string what;
  std::string expected = {};
  std::string got = {};
  std::string remedy = {};
};

// Success, or a code with a description. The compiler warns if a returned status is ignored.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, Fault fault) : error_(std::make_unique<Error>(code, std::move(fault))) {
    assert(code != StatusCode::ok);
  }
  Status(const Status& other) { *this = other; }
  Status& operator=(const Status& other) {
    error_ = other.error_ ? std::make_unique<Error>(*other.error_) : nullptr;
    return *this;
  }
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  bool ok() const { return error_ == nullptr; }
  StatusCode code() const { return error_ ? error_->code : StatusCode::ok; }
  // Requires !ok().
  const Fault& fault() const {
    assert(error_);
    return error_->fault;
  }

  // Adds the place before the description: "bucket 3: payload header".
  Status at(std::string_view place) &&;

  // Returns one line: "corrupt_data: payload header: expected 24 bytes or more, got 7; send it
  // again".
  std::string text() const;

 private:
  struct Error {
    Error(StatusCode c, Fault f) : code(c), fault(std::move(f)) {}
    StatusCode code;
    Fault fault;
  };
  std::unique_ptr<Error> error_;
};

// A value, or the status that explains its absence. Access to the value requires ok().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // Requires an error; a success needs a value.
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {
    assert(!std::get<1>(state_).ok());
  }

  bool ok() const { return state_.index() == 0; }
  Status status() const& { return ok() ? Status() : std::get<1>(state_); }
  Status status() && { return ok() ? Status() : std::move(std::get<1>(state_)); }

  T& value() & {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    assert(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> state_;
};

// Marks an error that is ignored on purpose, so that such places can be found by searching.
inline void ignore_error(const Status&) {}

}  // namespace tributary

// Returns from the function with the error if `expr` has one.
#define TRIBUTARY_TRY(expr)                                                    \
  do {                                                                         \
    if (::tributary::Status tributary_status = (expr); !tributary_status.ok()) \
      return tributary_status;                                                 \
  } while (false)

#define TRIBUTARY_CONCAT_INNER(a, b) a##b
#define TRIBUTARY_CONCAT(a, b) TRIBUTARY_CONCAT_INNER(a, b)

// TRIBUTARY_ASSIGN(auto x, f()) sets x to the value of f(), or returns from the function with the
// error of f().
#define TRIBUTARY_ASSIGN(target, expr) \
  TRIBUTARY_ASSIGN_INNER(target, expr, TRIBUTARY_CONCAT(tributary_result_, __LINE__))
#define TRIBUTARY_ASSIGN_INNER(target, expr, result)   \
  auto result = (expr);                                \
  if (!result.ok()) return std::move(result).status(); \
  target = std::move(result).value()
