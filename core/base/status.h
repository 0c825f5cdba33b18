// Errors as values. A Status says what was wrong in four parts, so that whoever reads it knows what
// to do: what it was about, what was expected, what came instead, and the way out.
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
  invalid_argument,    // the caller asked for something that makes no sense
  corrupt_data,        // bytes that break their own format
  not_finite,          // NaN or Inf where numbers are needed
  mismatch,            // two things that had to agree do not
  not_found,           //
  already_exists,      //
  unsupported,         // well formed, but not something this build or version does
  resource_exhausted,  // a stated cap was reached
  io_error,            // the operating system refused
  deadline_exceeded,   //
  unavailable,         // try again later
  cancelled,           //
  permission_denied,   // a key that may not do what it asks
};
// Codes go by their numbers to watchers: new ones come last.
inline constexpr StatusCode kLastStatusCode = StatusCode::permission_denied;

std::string_view name(StatusCode code);

// What went wrong, in words. `what` names the thing and its place ("payload header, byte 12").
struct Fault {
  std::string what;
  std::string expected = {};
  std::string got = {};
  std::string remedy = {};
};

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
  const Fault& fault() const {
    assert(error_);
    return error_->fault;
  }

  // Puts the place in front of what went wrong: "bucket 3: payload header".
  Status at(std::string_view place) &&;

  // One line: "corrupt_data: payload header: expected 24 bytes or more, got 7; send it again".
  std::string text() const;

 private:
  struct Error {
    Error(StatusCode c, Fault f) : code(c), fault(std::move(f)) {}
    StatusCode code;
    Fault fault;
  };
  std::unique_ptr<Error> error_;
};

// A value or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
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

// Says in the code that an error is dropped on purpose, and makes the place easy to find.
inline void ignore_error(const Status&) {}

}  // namespace tributary

// Leaves the function with the error if `expr` has one.
#define TRIBUTARY_TRY(expr)                                                    \
  do {                                                                         \
    if (::tributary::Status tributary_status = (expr); !tributary_status.ok()) \
      return tributary_status;                                                 \
  } while (false)

#define TRIBUTARY_CONCAT_INNER(a, b) a##b
#define TRIBUTARY_CONCAT(a, b) TRIBUTARY_CONCAT_INNER(a, b)

// TRIBUTARY_ASSIGN(auto x, f()): x is f()'s value; leaves the function with f()'s error otherwise.
#define TRIBUTARY_ASSIGN(target, expr) \
  TRIBUTARY_ASSIGN_INNER(target, expr, TRIBUTARY_CONCAT(tributary_result_, __LINE__))
#define TRIBUTARY_ASSIGN_INNER(target, expr, result)   \
  auto result = (expr);                                \
  if (!result.ok()) return std::move(result).status(); \
  target = std::move(result).value()
