// Opens an agent's own part of a data set, according to its settings (DataSource) and the job.
//
// Blocks while it opens files; examples are read later, when a batch needs them. The result is
// shared and immutable.
#pragma once

#include <memory>
#include <string_view>

#include "core/base/status.h"
#include "core/train/trainer.h"
#include "core/train/training_job.h"

namespace tributary {

// The examples that an agent trains with, and those that it holds out for evaluation. The hold-out
// is a share of its own examples, or else the test part of a folder that has one. Without a
// hold-out (null) nothing is evaluated.
struct TrainingData {
  std::shared_ptr<const DataSet> train;
  std::shared_ptr<const DataSet> hold_out;
};

// Checks the settings `path` and `format` of this table without opening a file, so that an error
// appears at the start of a daemon. Fails with invalid_argument, not_found (nothing at the path) or
// io_error (no access to it).
Status check_data_source(const DataSource& source, std::string_view table);

// Opens the files and selects the agent's shard. Shards are drawn from the job's seed, so all
// agents must state the same number of shards and the same skew. Fails with invalid_argument
// (settings) or as open_data() does (core/data/formats/open.h); a missing test part is no failure.
Result<TrainingData> open_training_data(const DataSource& source, const TrainingJob& job);

}  // namespace tributary
