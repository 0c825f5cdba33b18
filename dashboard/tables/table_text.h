// Writes tables as CSV, for files and for the clipboard.
//
// Numbers are written in the base unit that their column header names, so that a program can read
// them; texts are complete and not shortened. Columns that are curves are left out. GUI thread
// only.
#pragma once

#include <QByteArray>
#include <QString>
#include <vector>

#include "core/base/status.h"
#include "dashboard/tables/table_proxy.h"

namespace tributary::dashboard {

// Formats according to RFC 4180, or with another separator. Dates follow ISO 8601, in UTC. `rows`
// are rows of the proxy.
QByteArray table_text(const TableProxy& table, const std::vector<int>& rows,
                      const std::vector<int>& columns, char separator = ',');

// Writes all rows that pass the filter, in their sort order. Fails with io_error if the file cannot
// be written; an existing file then remains unchanged.
Status write_table(const TableProxy& table, const std::vector<int>& columns, const QString& file);

}  // namespace tributary::dashboard
