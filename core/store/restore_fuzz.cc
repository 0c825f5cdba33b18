// Fuzzes restoring: any bytes of a journal file are changed. The result may be an error or another
// state, but never a crash, and never an allocation for a size that is only claimed.
//
// Input: one byte that chooses the journal, then edits of four bytes: offset (24 bits) and value.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "core/base/files/file.h"
#include "core/store/agent/agent_journal.h"
#include "core/store/coordinator/coordinator_journal.h"
#include "core/store/testing/folder_testing.h"
#include "core/store/testing/life_testing.h"

namespace tributary::store_testing {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

constexpr std::uint32_t kRecords = 25;

template <typename Journal, typename Life>
void fill(Journal& journal, Life life) {
  require(journal.ok());
  for (std::uint32_t i = 0; i < kRecords; ++i) require((*journal)->store(life.next()).ok());
}

// The journals are filled once; every input edits a copy.
class Journals {
 public:
  Journals() {
    {
      auto journal =
          CoordinatorJournal::open({.journal = {.path = path(0), .durability = Durability::stop}});
      fill(journal, CoordinatorLife(1, 400));
      auto agent = AgentJournal::open(
          {.path = path(1), .durability = Durability::stop, .large_chunk_bytes = 1000});
      fill(agent, AgentLife(1, 400));
    }
    for (unsigned which = 0; which < 2; ++which) {
      Result<Bytes> bytes = read_file(path(which), 16u << 20);
      require(bytes.ok());
      originals_[which] = std::move(*bytes);
    }
  }

  void restore(ByteSpan input) {
    if (input.empty()) return;
    const unsigned which = input[0] % 2;
    Bytes bytes = originals_[which];
    for (ByteSpan edits = input.subspan(1); edits.size() >= 4; edits = edits.subspan(4)) {
      const std::size_t place = edits[0] + 256u * edits[1] + 65536u * edits[2];
      bytes[place % bytes.size()] = edits[3];
    }
    require(write_file_atomically(path(which), bytes).ok());
    if (which == 0) {
      restore_coordinator();
    } else {
      restore_agent();
    }
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(path(which) + suffix);
  }

 private:
  std::string path(unsigned which) const { return folder_ / (which == 0 ? "run.db" : "agent.db"); }

  void restore_coordinator() {
    auto journal =
        CoordinatorJournal::open({.journal = {.path = path(0), .durability = Durability::stop}});
    if (!journal.ok()) return;
    const auto state = (*journal)->restore();
    if (!state.ok()) return;
    for (const RestoredJob& job : state->jobs) {
      ignore_error((*journal)->load_round({.token = 1, .job = job.job.job, .round = 1}).status());
    }
    CoordinatorLife life(2, 400);
    for (int i = 0; i < 5; ++i) ignore_error((*journal)->store(life.next()));
  }

  void restore_agent() {
    auto journal = AgentJournal::open(
        {.path = path(1), .durability = Durability::stop, .large_chunk_bytes = 1000});
    if (!journal.ok()) return;
    ignore_error((*journal)->restore().status());
    AgentLife life(2, 400);
    for (int i = 0; i < 5; ++i) ignore_error((*journal)->store(life.next()));
  }

  Folder folder_;
  Bytes originals_[2];
};

}  // namespace
}  // namespace tributary::store_testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static tributary::store_testing::Journals journals;
  journals.restore({data, size});
  return 0;
}
