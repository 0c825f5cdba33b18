#include "dashboard/pages/page.h"
