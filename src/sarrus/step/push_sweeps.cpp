#include "sarrus/step/push_sweeps.h"

#include <algorithm>
#include <cmath>

#include "sarrus/step/push_out.h"

namespace sarrus {
namespace {

constexpr int kShared = 4;  // passes of the start
constexpr int kSweeps = 40;
// What a sweep still changes, as a share of the largest aim. Few contacts get there soon; otherwise what is left is
// corrected in the next step.
constexpr double kDone = 1e-5;
constexpr double kEnough = 0.03;
constexpr int kEnoughFrom = 12;
// Who is not this far after so many sweeps will not be there in time.
constexpr int kTrial = 10;
constexpr double kPromising = 0.3;

}  // namespace

void PushSweeps::take_memory(const Model& model, std::size_t contacts) {
  if (contacts > rows_.capacity()) rows_.reserve(contacts + contacts / 4);
  if (!inverse_mass_.empty()) return;
  jointed_.resize(model.bodies().size(), false);
  moves_.resize(model.bodies().size());
  moved_.resize(model.bodies().size());
  deep_.resize(model.bodies().size());
  for (const Joint& j : model.joints()) {
    if (j.type == JointType::free) continue;
    for (const int body : {j.base, j.follower}) {
      if (body != kWorld) jointed_[static_cast<std::size_t>(body)] = true;
    }
  }
  inverse_mass_.resize(model.bodies().size());
  inverse_inertia_B_.resize(model.bodies().size());
  read_again(model);
}

void PushSweeps::read_again(const Model& model) {
  for (std::size_t i = 0; i < inverse_mass_.size(); ++i) {
    const Body& b = model.bodies()[i];
    inverse_mass_[i] = 1 / b.mass;
    inverse_inertia_B_[i] = b.inertia_B.inverse() / PushOut::kInertiaFactor;
  }
}

bool PushSweeps::prepare(const RowContext& at, const Contact& c, Row& row) const {
  const auto side = [&](int body, Vec3& turn, Vec3& response, double& w) {
    if (body == kWorld) return true;
    const auto k = static_cast<std::size_t>(body);
    if (jointed_[k] || at.coordinates.map(body).X != nullptr) return false;
    const Pose& X = at.X_WB[k];
    turn = (c.p_W - X.p).cross(c.n_W);
    response = X.q * (inverse_inertia_B_[k] * (X.q.conjugate() * turn));
    w = inverse_mass_[k] + turn.dot(response);
    return true;
  };
  if (!side(c.body_a, row.turn_a, row.response_a, row.w_a) || !side(c.body_b, row.turn_b, row.response_b, row.w_b))
    return false;
  row.inverse = 1 / (row.w_a + row.w_b);
  row.ready = true;
  return true;
}

void PushSweeps::push(const Contact& c, Row& row, double lambda) {
  const double change = lambda - row.lambda;
  row.lambda = lambda;
  const auto side = [&](int body, double impulse, const Vec3& response) {
    if (body == kWorld) return;
    Move& m = moves_[static_cast<std::size_t>(body)];
    m.way += impulse * inverse_mass_[static_cast<std::size_t>(body)] * c.n_W;
    m.turn += impulse * response;
    moved_[static_cast<std::size_t>(body)] = 1;
  };
  side(c.body_a, -change, row.response_a);
  side(c.body_b, change, row.response_b);
}

bool PushSweeps::start(const RowContext& at, std::span<const Contact> contacts, std::span<const double> aim) {
  rows_.assign(contacts.size(), Row{});
  std::fill(moves_.begin(), moves_.end(), Move{});
  std::fill(moved_.begin(), moved_.end(), 0);
  std::fill(deep_.begin(), deep_.end(), 0);
  const auto deep = [&](std::size_t i) { return contacts[i].compliance < 0 && aim[i] > 0; };
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    for (const int body : {contacts[i].body_a, contacts[i].body_b}) {
      if (body != kWorld) deep_[static_cast<std::size_t>(body)] += static_cast<int>(deep(i));
    }
  }
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (deep(i) && !prepare(at, contacts[i], rows_[i])) return false;
  }
  const auto shares = [this](int body) { return body == kWorld ? 0 : deep_[static_cast<std::size_t>(body)]; };
  for (int pass = 0; pass < kShared; ++pass) {
    for (std::size_t i = 0; i < contacts.size(); ++i) rows_[i].opens = deep(i) ? opens(contacts[i], rows_[i]) : 0.0;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      if (!deep(i)) continue;
      Row& row = rows_[i];
      const double w = shares(contacts[i].body_a) * row.w_a + shares(contacts[i].body_b) * row.w_b;
      push(contacts[i], row, std::max(0.0, row.lambda - (row.opens - aim[i]) / w));
    }
  }
  return true;
}

double PushSweeps::opens(const Contact& c, const Row& row) const {
  double sum = 0;
  if (c.body_a != kWorld) {
    const Move& m = moves_[static_cast<std::size_t>(c.body_a)];
    sum -= m.way.dot(c.n_W) + m.turn.dot(row.turn_a);
  }
  if (c.body_b != kWorld) {
    const Move& m = moves_[static_cast<std::size_t>(c.body_b)];
    sum += m.way.dot(c.n_W) + m.turn.dot(row.turn_b);
  }
  return sum;
}

bool PushSweeps::run(const RowContext& at, std::span<const Contact> contacts, std::span<const double> aim,
                     VecX& displacement) {
  const double largest = *std::max_element(aim.begin(), aim.end());
  if (!start(at, contacts, aim)) return false;
  const auto moved = [this](int body) { return body != kWorld && moved_[static_cast<std::size_t>(body)] != 0; };
  double change = kInf;
  for (int sweep = 0; sweep < kSweeps && change > (sweep < kEnoughFrom ? kDone : kEnough) * largest; ++sweep) {
    if (sweep == kTrial && change > kPromising * largest) return false;
    change = 0;
    for (std::size_t k = 0; k < contacts.size(); ++k) {
      const std::size_t i = sweep % 2 == 0 ? k : contacts.size() - 1 - k;  // what has been moved is felt both ways
      const Contact& c = contacts[i];
      if (c.compliance >= 0 || !(moved(c.body_a) || moved(c.body_b))) continue;
      Row& row = rows_[i];
      if (!row.ready && !prepare(at, c, row)) return false;
      const double lambda = std::max(0.0, row.lambda - (opens(c, row) - aim[i]) * row.inverse);
      if (lambda == row.lambda) continue;
      change = std::max(change, std::abs(lambda - row.lambda) / row.inverse);
      push(c, row, lambda);
    }
  }
  if (!(change <= kEnough * largest)) return false;
  displacement.setZero();
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    if (moved_[i] == 0) continue;
    const int offset = at.coordinates.map(static_cast<int>(i)).offset;
    displacement.segment<3>(offset) = moves_[i].way;
    displacement.segment<3>(offset + 3) = moves_[i].turn;
  }
  return displacement.allFinite();
}

}  // namespace sarrus
