#include "dashboard/pages/common/page.h"
