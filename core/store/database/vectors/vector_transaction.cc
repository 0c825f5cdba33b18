#include "core/store/database/vectors/vector_transaction.h"

namespace tributary {

Status in_transaction(Database& database, const std::unique_ptr<VectorFile>& vectors,
                      bool sync_vectors, const std::function<Status()>& change) {
  TRIBUTARY_ASSIGN(Transaction transaction, Transaction::begin(database));
  Status done = change();
  if (done.ok() && sync_vectors && vectors) done = vectors->sync();
  if (!done.ok()) {
    if (vectors) vectors->rolled_back({});
    return done;
  }
  Status committed = transaction.commit();
  if (!vectors) return committed;
  if (committed.ok()) {
    vectors->committed();
  } else {
    vectors->rolled_back(committed);
  }
  return committed;
}

}  // namespace tributary
