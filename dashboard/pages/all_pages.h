// Creates the pages of the dashboard, in the order of their tabs.
//
// The only place that knows every page: the window handles pages through their base class. The
// caller owns the pages.
#pragma once

#include <memory>
#include <vector>

#include "dashboard/pages/common/page.h"

namespace tributary::dashboard {

// Returns the names that --page accepts, without creating a page.
std::vector<QString> page_names();

// The context must outlive the pages.
std::vector<std::unique_ptr<Page>> make_all_pages(PageContext& context);
std::unique_ptr<Page> make_page(const QString& name, PageContext& context);  // null: unknown

}  // namespace tributary::dashboard
