// The tables of a coordinator's journal; docs/journal.md describes them.
#pragma once

#include "core/store/database/migrations.h"

namespace tributary {

extern const Schema kCoordinatorSchema;

}  // namespace tributary
