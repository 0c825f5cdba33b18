// The tables of an agent's journal; docs/journal.md describes them.
//
// Released steps never change; a new version is a further step. core/store/released has the tables
// of every released version for the tests.
#pragma once

#include "core/store/database/migrations.h"

namespace tributary {

const Migrations& agent_migrations();

}  // namespace tributary
