// The pages that there are, in the order of their tabs.
#pragma once

#include <memory>
#include <vector>

#include "dashboard/pages/common/page.h"

namespace tributary::dashboard {

// What --page takes, without making any.
std::vector<QString> page_names();

// The context must outlive them.
std::vector<std::unique_ptr<Page>> make_all_pages(PageContext& context);
std::unique_ptr<Page> make_page(const QString& name, PageContext& context);  // null: unknown

}  // namespace tributary::dashboard
