// Shows that a comparison of bytes can fail: copies of the kernel that writes tiles, with one fault
// each (CMakeLists.txt), write the tiles of a payload once more. The other tests compare the kernel
// with the scalar specification. Under the thread sanitizer it finds the missing barrier.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include "core/codec/codec_testing.h"
#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/codec/cuda/gcomp/layout.h"
#include "core/codec/cuda/gcomp/loops.h"

#include <planted_gcomp_faults/escapes_without_places.cu>
#include <planted_gcomp_faults/no_fault.cu>
#include <planted_gcomp_faults/no_last_barrier.cu>
#include <planted_gcomp_faults/plain_store.cu>

namespace tributary::emulated {
namespace {

struct TileWriter {
  const char* name;
  decltype(write_tiles)* write;
};

Result<Bytes> body_of(const Workspace& space, const Queue& queue, const GCompEncoding& encoding) {
  TRIBUTARY_TRY(queue.wait());
  ChunkTotals totals;
  TRIBUTARY_TRY(space.download(encoding.totals, std::span<ChunkTotals>(&totals, 1)));
  TRIBUTARY_TRY(space.wait());
  Bytes body(sizeof(std::uint32_t) + totals.bytes);
  TRIBUTARY_TRY(space.download(encoding.body, std::span<std::uint8_t>(body)));
  TRIBUTARY_TRY(space.wait());
  return body;
}

// Five tiles with zeros, so that tiles share words, and with rare exponents. Two blocks of threads
// take several turns.
Result<bool> writes_the_same(const TileWriter& writer) {
  FloatVector update = codec_testing::update(codec_testing::Pattern::normal, 18'000, 0);
  for (std::size_t i = 3; i < update.size(); i += 13) update[i] = 0;
  for (std::size_t i = 5; i < update.size(); i += 50) update[i] *= 1e20f;
  gcomp::Histogram histogram = {};
  for (unsigned e = 100; e < 128; ++e) histogram[e] = 1u << (e - 100);
  const CodeTable codes = code_table(gcomp::make_codebook(histogram, 8, 0));
  Workspaces workspaces;
  TRIBUTARY_ASSIGN(Workspace space, workspaces.take());
  TRIBUTARY_ASSIGN(const Queue queue, Queue::make(2));
  GCompEncoding encoding = {.n = static_cast<std::uint32_t>(update.size()), .coded = true};
  TRIBUTARY_ASSIGN(encoding.x, space.upload(std::span<const float>(update)));
  TRIBUTARY_ASSIGN(encoding.table, space.upload(std::span<const CodeTable>(&codes, 1)));
  TRIBUTARY_ASSIGN(encoding.body,
                   space.array<std::uint8_t>(4 + gcomp::chunk_bytes_max(update.size())));
  TRIBUTARY_TRY(make_arrays(space, encoding));
  TRIBUTARY_TRY(space.wait());
  TRIBUTARY_TRY(encode_chunks(queue, encoding));
  TRIBUTARY_ASSIGN(const Bytes expected, body_of(space, queue, encoding));
  TRIBUTARY_TRY(writer.write(queue, encoding));
  TRIBUTARY_ASSIGN(const Bytes got, body_of(space, queue, encoding));
  return got == expected;
}

bool always_writes_the_same(const TileWriter& writer) {
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    set_order_seed(seed);
    const Result<bool> same = writes_the_same(writer);
    if (!same.ok() || !*same) return false;
  }
  return true;
}

// Runs the comparison in another process, because a sanitizer ends the process.
void expect_end_of(const TileWriter& writer, bool found) {
#ifdef TRIBUTARY_FINDS_RACES
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a second OS thread runs blocks
#endif
  EXPECT_EXIT({ std::exit(always_writes_the_same(writer) ? 0 : 1); },
              [&](int status) { return found != (WIFEXITED(status) && WEXITSTATUS(status) == 0); },
              "")
      << writer.name;
}

TEST(PlantedGCompFaults, AreFound) {
  expect_end_of({"no_last_barrier", no_last_barrier::write_tiles}, true);
  expect_end_of({"plain_store", plain_store::write_tiles}, true);
  expect_end_of({"escapes_without_places", escapes_without_places::write_tiles}, true);
}

TEST(PlantedGCompFaults, KernelWithoutFaultPasses) {
  expect_end_of({"no_fault", no_fault::write_tiles}, false);
}

}  // namespace
}  // namespace tributary::emulated
