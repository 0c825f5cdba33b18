// The loops over values: Highway compiles this file once per instruction set and selects the best
// at run time. Look-ups use blocks of 128 bits, which every instruction set has.
#include "core/collective/in_network/add_levels.h"
#include "core/collective/in_network/linear_check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/collective/in_network/simd.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tributary::in_network::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

template <typename Sum, bool kAdd>
void levels(const std::uint8_t* packed, std::size_t count, const Places& places,
            std::uint8_t* bytes) {
  Sum* const sums = reinterpret_cast<Sum*>(bytes);
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned level = packed[i / 2] >> (i % 2 * 4) & 15u;
    const unsigned place = places.low[level] | (sizeof(Sum) > 1 ? places.high[level] << 8 : 0);
    sums[i] = static_cast<Sum>(kAdd ? sums[i] + place : place);
  }
}

#else

using Block = hn::Full128<std::uint8_t>;
using BlockVec = hn::Vec<Block>;
using Wide = hn::Full128<std::uint16_t>;

template <bool kAdd, class D>
HWY_INLINE void put(D d, hn::Vec<D> places, hn::TFromD<D>* sums) {
  if constexpr (kAdd) places = hn::Add(places, hn::Load(d, sums));
  hn::Store(places, d, sums);
}

// Calls visit(low levels, high levels, first value) for every 32 values.
template <typename Visit>
HWY_INLINE void for_each_block(const std::uint8_t* packed, std::size_t count, const Visit& visit) {
  const Block d;
  const BlockVec mask = hn::Set(d, std::uint8_t{15});
  for (std::size_t i = 0; i < count / 2; i += 16) {
    const BlockVec both = hn::LoadU(d, packed + i);
    const BlockVec high = hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(Wide(), both)));
    visit(hn::And(both, mask), hn::And(high, mask), 2 * i);
  }
}

template <typename Sum, bool kAdd>
void levels(const std::uint8_t* packed, std::size_t count, const Places& places,
            std::uint8_t* bytes) {
  const Block d;
  const BlockVec low_table = hn::Load(d, places.low.data());
  if constexpr (sizeof(Sum) == 1) {
    for_each_block(packed, count, [&](BlockVec even, BlockVec odd, std::size_t first) HWY_ATTR {
      const BlockVec a = hn::TableLookupBytes(low_table, even);
      const BlockVec b = hn::TableLookupBytes(low_table, odd);
      put<kAdd>(d, hn::InterleaveLower(d, a, b), bytes + first);
      put<kAdd>(d, hn::InterleaveUpper(d, a, b), bytes + first + 16);
    });
  } else {
    const Wide w;
    const BlockVec high_table = hn::Load(d, places.high.data());
    std::uint16_t* const sums = reinterpret_cast<std::uint16_t*>(bytes);
    for_each_block(packed, count, [&](BlockVec even, BlockVec odd, std::size_t first) HWY_ATTR {
      const BlockVec lower = hn::InterleaveLower(d, even, odd);
      const BlockVec upper = hn::InterleaveUpper(d, even, odd);
      std::uint16_t* out = sums + first;
      for (const BlockVec& level : {lower, upper}) {
        const BlockVec low = hn::TableLookupBytes(low_table, level);
        const BlockVec high = hn::TableLookupBytes(high_table, level);
        put<kAdd>(w, hn::BitCast(w, hn::InterleaveLower(d, low, high)), out);
        put<kAdd>(w, hn::BitCast(w, hn::InterleaveUpper(d, low, high)), out + 8);
        out += 16;
      }
    });
  }
}

#endif

void set8(const std::uint8_t* packed, std::size_t n, const Places& places, std::uint8_t* sums) {
  levels<std::uint8_t, false>(packed, n, places, sums);
}
void add8(const std::uint8_t* packed, std::size_t n, const Places& places, std::uint8_t* sums) {
  levels<std::uint8_t, true>(packed, n, places, sums);
}
void set16(const std::uint8_t* packed, std::size_t n, const Places& places, std::uint8_t* sums) {
  levels<std::uint16_t, false>(packed, n, places, sums);
}
void add16(const std::uint8_t* packed, std::size_t n, const Places& places, std::uint8_t* sums) {
  levels<std::uint16_t, true>(packed, n, places, sums);
}

// A lane has a product of 32 and 16 bits for each value that it takes; kLinearBlock of them fit.
template <typename Value>
SplitSum dot(const SplitPowers& powers, const Value* values, std::size_t n) {
  SplitSum total = {0, 0};
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint64_t> d64;
  const hn::RepartitionToNarrow<decltype(d64)> d32;
  const hn::Rebind<Value, decltype(d32)> narrow;
  const std::size_t lanes = hn::Lanes(d32);
  auto low = hn::Zero(d64);
  auto low_odd = low, high = low, high_odd = low;
  const auto odd = [&](hn::Vec<decltype(d32)> v) HWY_ATTR {
    return hn::BitCast(d32, hn::ShiftRight<32>(hn::BitCast(d64, v)));
  };
  for (; i + lanes <= n; i += lanes) {
    const auto value = hn::PromoteTo(d32, hn::LoadU(narrow, values + i));
    const auto value_odd = odd(value);
    const auto a = hn::LoadU(d32, powers.low.data() + i);
    const auto b = hn::LoadU(d32, powers.high.data() + i);
    low = hn::Add(low, hn::MulEven(a, value));
    low_odd = hn::Add(low_odd, hn::MulEven(odd(a), value_odd));
    high = hn::Add(high, hn::MulEven(b, value));
    high_odd = hn::Add(high_odd, hn::MulEven(odd(b), value_odd));
  }
  total.low = hn::GetLane(hn::SumOfLanes(d64, hn::Add(low, low_odd)));
  total.high = hn::GetLane(hn::SumOfLanes(d64, hn::Add(high, high_odd)));
#endif
  for (; i < n; ++i) {
    total.low += std::uint64_t{powers.low[i]} * values[i];
    total.high += std::uint64_t{powers.high[i]} * values[i];
  }
  return total;
}

SplitSum dot8(const SplitPowers& powers, const std::uint8_t* values, std::size_t n) {
  return dot(powers, values, n);
}
SplitSum dot16(const SplitPowers& powers, const std::uint16_t* values, std::size_t n) {
  return dot(powers, values, n);
}

}  // namespace
}  // namespace tributary::in_network::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::in_network {

HWY_EXPORT(set8);
HWY_EXPORT(add8);
HWY_EXPORT(set16);
HWY_EXPORT(add16);
HWY_EXPORT(dot8);
HWY_EXPORT(dot16);

void set_levels8(const std::uint8_t* packed, std::size_t count, const Places& places,
                 std::uint8_t* sums) {
  HWY_DYNAMIC_DISPATCH(set8)(packed, count, places, sums);
}
void add_levels8(const std::uint8_t* packed, std::size_t count, const Places& places,
                 std::uint8_t* sums) {
  HWY_DYNAMIC_DISPATCH(add8)(packed, count, places, sums);
}
void set_levels16(const std::uint8_t* packed, std::size_t count, const Places& places,
                  std::uint8_t* sums) {
  HWY_DYNAMIC_DISPATCH(set16)(packed, count, places, sums);
}
void add_levels16(const std::uint8_t* packed, std::size_t count, const Places& places,
                  std::uint8_t* sums) {
  HWY_DYNAMIC_DISPATCH(add16)(packed, count, places, sums);
}
SplitSum split_dot8(const SplitPowers& powers, const std::uint8_t* values, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(dot8)(powers, values, n);
}
SplitSum split_dot16(const SplitPowers& powers, const std::uint16_t* values, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(dot16)(powers, values, n);
}

}  // namespace tributary::in_network
#endif
