#include "sarrus/model/numbers.h"

namespace sarrus {

Model ModelNumbers::own(const Model& model) {
  auto frozen = std::make_shared<Model::Frozen>(*model.d_);
  frozen->scalars = frozen->with_combinations.empty() ? frozen->data.dofs : frozen->with_combinations;
  Model out;
  out.d_ = std::move(frozen);
  return out;
}

}  // namespace sarrus
