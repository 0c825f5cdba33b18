#include "dashboard/pages/plan/inputs_model.h"

#include <limits>

namespace tributary::dashboard {

InputsModel::InputsModel(QObject* parent)
    : RowsModel({{"input", "Input", CellKind::text, Unit::one, "", true},
                 {"value", "Value", CellKind::text, Unit::one, "", true},
                 {"of", "Observed", CellKind::text, Unit::one, "Observer and age", true}},
                parent) {}

// All cells are text, because the values have different units.
double InputsModel::number(int /*row*/, int /*column*/) const {
  return std::numeric_limits<double>::quiet_NaN();
}

std::string_view InputsModel::words(int row, int column) const {
  const PlanInput& input = row_at(row);
  if (column == 0) return input.name;
  return column == 1 ? input.value : input.about;
}

// Several agents can observe the same quantity, so the name alone does not identify a row.
bool InputsModel::same_item(const PlanInput& a, const PlanInput& b) const {
  return a.name == b.name && a.about == b.about;
}

bool InputsModel::same_values(const PlanInput& a, const PlanInput& b) const {
  return a.value == b.value;
}

}  // namespace tributary::dashboard
