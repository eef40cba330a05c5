#include "sarrus/step/impacts.h"

#include <algorithm>
#include <cmath>

#include "sarrus/rows/compliance.h"

namespace sarrus {
namespace {

constexpr int kMaxPasses = 200;
constexpr int kMaxTries = 14;
constexpr double kNoWork = 1e-10;  // of what the impulses turn over

bool is_elastic(const Contact& c) { return c.compliance < 0 && c.restitution > 0; }

}  // namespace

double Impacts::normal_velocity(const ConstraintBlock& b, const VecX& u) const {
  return row_velocity(problem_, b, 2, u);
}

void Impacts::begin(const ConstraintProblem& problem, std::span<const Contact> contacts, const RowOptions& options,
                    const VecX& u_minus, std::span<std::uint8_t> bounced) {
  problem_ = problem;
  contacts_ = contacts;
  options_ = options;
  bounced_ = bounced;
  bias_ = problem.bias;
  lower_ = problem.lower;
  upper_ = problem.upper;
  u_start_ = u_minus;
  u_change_ = problem.u_free - u_minus;
  force_.resize(u_minus.size());
  problem.multiply_M(u_change_, force_);
  role_.assign(contacts.size(), Role::law);
  approach_.assign(contacts.size(), 0.0);
  total_.assign(bias_.size(), 0.0);
  brackets_.resize(static_cast<std::size_t>(problem.islands.count()));
  least_ = 1;
  fastest_ = 0;
  passes_ = 0;
  last_ = false;
  set_roles(true);
  set_biases();
}

void Impacts::set_roles(bool first) {
  const ConstraintBlock* next = nullptr;
  double next_time = 0;
  for (const ConstraintBlock& b : problem_.blocks) {
    if (b.kind != BlockKind::contact) continue;
    const auto i = static_cast<std::size_t>(b.source);
    const Contact& c = contacts_[i];
    role_[i] = Role::law;
    if (!is_elastic(c)) continue;
    const double v = normal_velocity(b, u_start_);
    approach_[i] = v;
    const bool closes = first ? bounced_[i] != 0 : v < -options_.restitution_threshold && c.gap + problem_.dt * v <= 0;
    const bool sequential = *options_.restitution == RestitutionLaw::sequential;
    if (closes && !sequential) {
      role_[i] = Role::bounces;
      continue;
    }
    if (sequential || c.gap > contact_slop(options_, c)) role_[i] = Role::left_out;
    const double time = std::max(0.0, c.gap - contact_slop(options_, c)) / -v;
    if (closes && (next == nullptr || time < next_time ||
                   (time == next_time && v < approach_[static_cast<std::size_t>(next->source)]))) {
      next = &b;
      next_time = time;
    }
  }
  if (next != nullptr) role_[static_cast<std::size_t>(next->source)] = Role::bounces;
  std::fill(brackets_.begin(), brackets_.end(), Bracket{});
  for (const ConstraintBlock& b : problem_.blocks) {
    if (b.kind != BlockKind::contact || role_[static_cast<std::size_t>(b.source)] != Role::bounces) continue;
    brackets_[static_cast<std::size_t>(problem_.islands.of(b))].bounces = true;
    bounced_[static_cast<std::size_t>(b.source)] = 1;
  }
}

// Soft rows: J u + v* + R (sum of all passes) = 0 within the bounds of the sum. A contact that is left out keeps a
// distance from its law that no impact of the island reaches.
void Impacts::set_biases() {
  for (const double v : approach_) fastest_ = std::max(fastest_, std::abs(v));
  for (const ConstraintBlock& b : problem_.blocks) {
    for (int r = b.row; r < b.row + b.rows; ++r) {
      const auto i = static_cast<std::size_t>(r);
      problem_.bias[i] = bias_[i] + problem_.R[i] * total_[i];
      if (b.kind != BlockKind::soft) continue;
      problem_.lower[i] = lower_[i] - total_[i];
      problem_.upper[i] = upper_[i] - total_[i];
    }
    if (b.kind != BlockKind::contact) continue;
    const auto c = static_cast<std::size_t>(b.source);
    const Contact& contact = contacts_[c];
    if (!is_elastic(contact)) continue;
    double& bias = problem_.bias[static_cast<std::size_t>(b.row + 2)];
    if (role_[c] == Role::bounces) {
      const double f = brackets_[static_cast<std::size_t>(problem_.islands.of(b))].factor;
      bias = f * contact.restitution * approach_[c];
    } else if (role_[c] == Role::left_out) {
      bias = std::max(0.0, -normal_velocity(b, problem_.u_free)) + 10 * fastest_;
    } else if (bounced_[c] != 0) {
      bias = std::max(0.0, contact.gap - 0.1 * contact_slop(options_, contact)) / problem_.dt;
    }
  }
  problem_.finish();
}

bool Impacts::keep(std::span<const double> lambda, const VecX& u_plus) {
  if (last_) return true;
  u_sum_ = u_start_ + u_plus;
  u_change_ = u_plus - u_start_;
  v_mean_.resize(problem_.rows());
  problem_.multiply_J(u_sum_, v_mean_);
  bool kept = true;
  for (int k = 0; k < problem_.islands.count(); ++k) {
    Bracket& x = brackets_[static_cast<std::size_t>(k)];
    if (!x.bounces || x.done) continue;
    double work = 0;
    double size = 0;
    for (const int index : problem_.islands.blocks(k)) {
      const ConstraintBlock& b = problem_.blocks[static_cast<std::size_t>(index)];
      for (int r = b.row; r < b.row + b.rows; ++r) {
        if (b.kind == BlockKind::soft || problem_.R[static_cast<std::size_t>(r)] > 0) continue;
        const double w = 0.5 * lambda[static_cast<std::size_t>(r)] * v_mean_[r];
        work += w;
        size += std::abs(w) + std::abs(lambda[static_cast<std::size_t>(r)] * problem_.v_free[r]);
      }
    }

    for (const int node : problem_.islands.nodes(k)) {
      const auto n = static_cast<std::size_t>(node);
      const auto first = problem_.node_offset[n];
      work -= 0.5 * force_.segment(first, problem_.node_size[n]).dot(u_change_.segment(first, problem_.node_size[n]));
    }
    if (x.tries == 0 && work <= kNoWork * size) {
      x.done = true;
      continue;
    }
    const bool works = work > kNoWork * size;
    if (works && x.factor == 0) {  // not restitution's doing
      x.done = true;
      continue;
    }
    (works ? x.high : x.low) = x.factor;
    (works ? x.work_high : x.work_low) = work;
    x.low_known = x.low_known || !works;
    ++x.tries;
    const bool close = !works && (x.high - x.low < 1e-4 || -work < 1e-6 * size);
    if (close || x.tries > kMaxTries) {
      x.done = x.factor == x.low;
      if (x.done) continue;
      x.factor = x.low;
    } else if (!x.low_known) {
      x.factor = 0;
    } else {
      const double secant = x.low + (x.high - x.low) * x.work_low / (x.work_low - x.work_high);
      const double margin = 0.05 * (x.high - x.low);
      x.factor = std::clamp(secant - margin, x.low + margin, x.high - margin);
    }
    kept = false;
  }
  if (kept) {
    for (const Bracket& x : brackets_) {
      if (x.bounces) least_ = std::min(least_, x.factor);
    }
    return true;
  }
  set_biases();
  return false;
}

bool Impacts::violated(const VecX& u) const {
  for (const ConstraintBlock& b : problem_.blocks) {
    if (b.kind != BlockKind::contact || !is_elastic(contacts_[static_cast<std::size_t>(b.source)])) continue;
    const Contact& c = contacts_[static_cast<std::size_t>(b.source)];
    const double allowed = std::max(0.0, c.gap) / problem_.dt;
    const double v = normal_velocity(b, u);
    if (v < -allowed - 1e-12 * (fastest_ + std::abs(v))) return true;
  }
  return false;
}

bool Impacts::next(std::span<const double> lambda, const VecX& u_plus) {
  for (std::size_t i = 0; i < total_.size(); ++i) total_[i] += lambda[i];
  if (last_) return false;
  u_start_ = u_plus;
  problem_.u_free = u_plus;
  if (++passes_ < kMaxPasses) set_roles(false);
  const bool more = std::any_of(brackets_.begin(), brackets_.end(), [](const Bracket& x) { return x.bounces; });
  if (!more || passes_ == kMaxPasses) {
    last_ = true;
    std::fill(role_.begin(), role_.end(), Role::law);
    if (!violated(u_plus)) return false;
  }
  set_biases();
  return true;
}

}  // namespace sarrus
