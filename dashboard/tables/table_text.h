// Tables as files and for the clipboard. Numbers are in the base unit that the head of their column
// names, so that they can be calculated with, and texts are whole.
#pragma once

#include <QByteArray>
#include <QString>
#include <vector>

#include "core/base/status.h"
#include "dashboard/tables/table_proxy.h"

namespace tributary::dashboard {

// By RFC 4180, or with something else than commas; dates by ISO 8601, in UTC. Rows are the proxy's.
QByteArray table_text(const TableProxy& table, const std::vector<int>& rows,
                      const std::vector<int>& columns, char separator = ',');

// All rows that the filter leaves, as they are sorted.
Status write_table(const TableProxy& table, const std::vector<int>& columns, const QString& file);

}  // namespace tributary::dashboard
