// The production journals (core/store) on a simulated machine's disk.
#pragma once

#include <memory>
#include <string>

#include "core/round/actions.h"
#include "core/round/events.h"
#include "core/round/records.h"

namespace tributary {

class AgentJournal {
 public:
  static Result<std::unique_ptr<AgentJournal>> open(const std::string& vfs,
                                                    const std::string& machine);
  ~AgentJournal();

  Result<AgentState> load();
  Status store(const AgentRecordToStore& record);

 private:
  class Impl;
  explicit AgentJournal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class CoordinatorJournal {
 public:
  static Result<std::unique_ptr<CoordinatorJournal>> open(const std::string& vfs,
                                                          const std::string& machine);
  ~CoordinatorJournal();

  Result<CoordinatorState> load();
  Status store(const CoordinatorRecord& record);
  RoundLoaded load_round(const LoadRound& wanted);

 private:
  class Impl;
  explicit CoordinatorJournal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tributary
