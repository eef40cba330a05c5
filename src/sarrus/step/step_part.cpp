#include "sarrus/step/step_part.h"

namespace sarrus {

bool StepPart::has_source(RowSource kind, int source) const {
  switch (kind) {
    case RowSource::joint:
    case RowSource::swing_limit:
    case RowSource::rope:
      return has_joint(source);
    case RowSource::coupling:
      return has_dof(model_.couplings()[static_cast<std::size_t>(source)].dof_a);
    case RowSource::locked_dof:
    case RowSource::limit_lower:
    case RowSource::limit_upper:
    case RowSource::servo:
    case RowSource::passive:
    case RowSource::dry_friction:
      return has_dof(source);
    case RowSource::drag:
      return has(source);
    case RowSource::contact:
      break;  // known by its geoms
  }
  return false;
}

}  // namespace sarrus
