// Snapshots: what a step reads from the past, as bytes and back.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sarrus/dynamics/scheme.h"
#include "sarrus/math/archive.h"
#include "sarrus/math/error.h"
#include "sarrus/math/hash.h"
#include "sarrus/model/fingerprint.h"
#include "sarrus/model/numbers.h"
#include "sarrus/step/shared_simulation.h"
#include "sarrus/step/simulation_impl.h"

namespace sarrus {
namespace {

constexpr std::uint32_t kVersion = 4;

void require(bool good, const char* what) {
  if (!good) throw ArchiveError(what);
}

// The archive takes its values by reference, and members of other folders one by one.
template <class A>
void archive_quat(A& a, Quat& q) {
  a(q.w(), q.x(), q.y(), q.z());
}

struct PoseItem {
  Pose& X;
  template <class A>
  void archive(A& a) {
    a(X.p);
    archive_quat(a, X.q);
  }
};

// A list whose length is known.
template <class A, class List, class F>
void archive_each(A& a, List& list, F f) {
  std::uint64_t n = list.size();
  a(n);
  require(n == list.size(), "a list has another length than the model needs");
  for (auto& x : list) f(x);
}

template <class A>
void archive_state(A& a, State& s) {
  a(s.time);
  archive_each(a, s.X_WB, [&](Pose& X) {
    PoseItem item{X};
    a(item);
  });
  archive_each(a, s.twist, [&](Vec6& u) { a(u); });
  archive_each(a, s.q, [&](double& q) { a(q); });
  a(s.rate_lag);
  std::uint64_t swings = s.energy_swing.size();
  a(swings);
  require(swings == 0 || swings == s.X_WB.size(), "a list has another length than the model needs");
  s.energy_swing.resize(swings);
  for (State::EnergySwing& w : s.energy_swing) a(w.gain, w.largest, w.held);
}

template <class A>
void archive_contact(A& a, Contact& c) {
  a(c.p_W, c.n_W, c.gap, c.size, c.geom_a, c.geom_b, c.body_a, c.body_b, c.key.hi, c.key.lo, c.mu, c.restitution,
    c.compliance);
}

bool is_contact(const Model& model, const Contact& c, int compliances) {
  const auto geom_of = [&](int geom, int body) {
    return geom >= 0 && geom < static_cast<int>(model.geoms().size()) &&
           model.geoms()[static_cast<std::size_t>(geom)].body == body;
  };
  return geom_of(c.geom_a, c.body_a) && geom_of(c.geom_b, c.body_b) && c.body_a != c.body_b && c.p_W.allFinite() &&
         std::abs(c.n_W.norm() - 1) < 1e-6 && std::isfinite(c.gap) && c.size > 0 && std::isfinite(c.size) &&
         c.mu >= 0 && std::isfinite(c.mu) && c.restitution >= 0 && c.restitution <= 1 && c.compliance >= -1 &&
         c.compliance < compliances;
}

int dragged_in(const ConstraintProblem& p) {
  const auto drags = [](const ConstraintBlock& b) { return b.source_kind == RowSource::drag; };
  const auto b = std::ranges::find_if(p.blocks, drags);
  return b == p.blocks.end() ? kWorld : b->source;
}

template <class A>
void archive_flow(A& a, EnergyFlow& f) {
  a(f.change, f.drives, f.external, f.friction, f.impacts, f.damping, f.springs, f.compliance, f.correction,
    f.taken_back, f.unaccounted);
}

template <class A, class Books>
void archive_books(A& a, Books& books) {
  a(books.overlap, books.mass, books.turned_over, books.largest, books.fastest, books.stiff, books.balanced,
    books.stored.kinetic, books.stored.gravity, books.stored.springs, books.stored.armature);
  a(books.least_springs, books.sprung, books.given, books.elastic, books.first);
}

}  // namespace

template <class A>
void WarmStart::archive(A& a) {
  std::uint64_t blocks = blocks_.size();
  a(blocks);
  require(blocks < (std::uint64_t{1} << 31), "a list is longer than the file");
  if constexpr (A::reads) blocks_.clear();
  for (std::uint64_t i = 0; i < blocks; ++i) {
    if constexpr (A::reads) blocks_.emplace_back();
    StoredBlock& b = blocks_[i];
    a(b.id, b.kind, b.first, b.rows);
  }
  a(values_);
  std::uint64_t contacts = contacts_.size();
  a(contacts);
  require(contacts < (std::uint64_t{1} << 31), "a list is longer than the file");
  if constexpr (A::reads) contacts_.clear();
  for (std::uint64_t i = 0; i < contacts; ++i) {
    if constexpr (A::reads) contacts_.emplace_back();
    StoredContact& c = contacts_[i];
    a(c.geom_a, c.geom_b, c.key.hi, c.key.lo, c.p_local, c.impulse_W, c.load, c.sustained.loaded, c.sustained.stuck,
      c.used);
    require(c.p_local.allFinite() && c.impulse_W.allFinite() && std::isfinite(c.load), "an impulse is no number");
  }
  a(limits_, dt_, any_sustained_);
  for (const StoredBlock& b : blocks_) {
    const bool inside = b.first >= 0 && b.rows >= 0 && b.rows <= static_cast<int>(values_.size()) &&
                        b.first <= static_cast<int>(values_.size()) - b.rows;
    require(inside && b.kind <= BlockKind::contact, "a stored impulse has no place");
  }
  if constexpr (A::trusted) return;
  for (const double x : values_) require(std::isfinite(x), "an impulse is no number");
  require(std::isfinite(dt_) && dt_ >= 0, "a time step is no number");
}

// Joint and soft rows have the same blocks in every step: assemble() has made them, and their numbers are the last
// step's.
template <class A>
void Assembler::archive(A& a) {
  const bool good = detector_.archive(a);
  require(good, "a direction between shapes is not of this model");
  std::uint64_t contacts = start_contacts_.size();
  std::uint64_t pairs = start_pairs_.size();
  a(start_dt_, contacts, pairs);
  require(contacts < (std::uint64_t{1} << 31) && pairs <= contacts, "a list is longer than the file");
  if constexpr (A::reads) {
    start_contacts_.clear();
    start_pairs_.clear();
  }
  for (std::uint64_t i = 0; i < contacts; ++i) {
    if constexpr (A::reads) start_contacts_.emplace_back();
    archive_contact(a, start_contacts_[i]);
    require(is_contact(model_, start_contacts_[i], static_cast<int>(detector_.compliances().size())),
            "a contact is not of this model");
  }
  std::uint64_t counted = 0;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    if constexpr (A::reads) start_pairs_.emplace_back();
    CollisionDetector::ClosePair& p = start_pairs_[i];
    a(p.colliders.a, p.colliders.b, p.contacts);
    require(detector_.is_pair(p.colliders) && p.contacts > 0, "a pair of shapes is not of this model");
    counted += static_cast<std::uint64_t>(p.contacts);
  }
  require(counted == contacts, "contacts belong to no pair of shapes");
  require(start_dt_ == 0 || start_dt_ > 0, "a time step is no number");

  bool factored = factor_.is_of(problem_);
  a(factored);
  if (!factored) return;
  std::uint64_t entries = 0;
  for (const ConstraintBlock& b : problem_.blocks) {
    if (b.kind > BlockKind::soft) break;
    for (int k = 0; k < b.nodes; ++k) {
      entries += static_cast<std::uint64_t>(b.rows * problem_.node_size[static_cast<std::size_t>(b.node[k])]);
    }
  }
  const auto rows = static_cast<std::size_t>(problem_.rows_of(BlockKind::joint) + problem_.rows_of(BlockKind::soft));
  const auto numbers = [&](auto& list, std::size_t count) {
    if constexpr (A::trusted) {
      a.raw(list.data(), count * sizeof(double));
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      a(list[i]);
      require(std::isfinite(list[i]), "a joint row holds what is no number");
    }
  };
  for (std::uint8_t& taken : taken_along_) a(taken);
  std::uint64_t stored = entries;
  a(stored);
  require(stored == entries, "joint rows are not of this model");
  numbers(problem_.mass, problem_.mass.size());
  numbers(problem_.mass_inverse, problem_.mass_inverse.size());
  numbers(problem_.jacobian, entries);
  numbers(problem_.R, rows);
  for (std::size_t i = 0; i < rows; ++i) a(problem_.diagonal[static_cast<Eigen::Index>(i)]);
  if constexpr (A::reads) {
    factor_.take_along(problem_, taken_along_);
    projection_.use_joints(problem_);
    require(factor_.factor(problem_), "joint rows cannot be factored");
  }
}

template <class A>
void Simulation::Impl::archive(A& a) {
  if constexpr (!A::trusted) {
    std::uint32_t version = kVersion;
    a(version);
    require(version == kVersion, "it was written by another version of sarrus");
    std::uint64_t of = fingerprint();
    a(of);
    require(of == fingerprint(), "it is of another model, or of other options");
  }
  archive_state(a, state);
  a(clock.origin, clock.steps);
  if constexpr (A::trusted) {
    archive_flow(a, books.flow);
    archive_books(a, books);
    archive_each(a, effort, [&](double& e) { a(e); });
    if constexpr (A::reads) {
      solver->reset();
      assembler.forget();
    }
    a(warm);
    assembler.archive(a);
    return;
  }
  archive_each(a, inputs.targets, [&](Inputs::Target& t) { a(t.active, t.target, t.rate); });
  archive_each(a, inputs.joint_forces, [&](double& f) { a(f); });
  archive_each(a, inputs.wrenches_W, [&](Vec6& w) { a(w); });
  archive_each(a, effort, [&](double& e) { a(e); });
  Drag drag = inputs.drag;
  int rows_of_drag = dragged_in(assembler.problem());
  a(drag.body, drag.point_B, drag.target_W, drag_force_W, rows_of_drag);
  archive_flow(a, books.flow);
  archive_books(a, books);
  if constexpr (A::reads) {
    check_state(state, model(), "restore");
    for (const Inputs::Target& t : inputs.targets) {
      require(std::isfinite(t.target) && std::isfinite(t.rate), "a target is no number");
    }
    for (const double f : inputs.joint_forces) require(std::isfinite(f), "a force is no number");
    for (const Vec6& w : inputs.wrenches_W) require(w.allFinite(), "a force is no number");
    require(drag.point_B.allFinite() && drag.target_W.allFinite() && drag_force_W.allFinite(), "a drag is no number");
    for (const int body : {drag.body, rows_of_drag}) {
      require(body >= kWorld && body < model().body_count(), "what is dragged is not of this model");
    }
    require(clock.origin + static_cast<double>(clock.steps) * options().dt == state.time,
            "the time is not that of its steps");
    for (const double x :
         {books.overlap, books.mass, books.turned_over, books.largest, books.fastest, books.least_springs, books.sprung,
          books.given, books.elastic, books.flow.springs, books.flow.compliance, books.stored.total(),
          books.flow.change, books.flow.correction, books.flow.unaccounted}) {
      require(std::isfinite(x), "an energy is no number");
    }
    solver->reset();
    assembler.forget();
    // The rows of the last step: since then the drag may have begun or ended.
    inputs.drag = rows_of_drag == kWorld ? Drag{} : drag_of(rows_of_drag, drag.point_B, drag.target_W);
    assembler.assemble(state, inputs, options().dt);
    assembler.forget();
    inputs.drag = drag.body == kWorld ? Drag{} : drag_of(drag.body, drag.point_B, drag.target_W);
    clear_impulses();
  }
  a(warm);
  assembler.archive(a);
}

template <class A>
void Simulation::Impl::archive_numbers(A& a) {
  ModelNumbers::archive(a, model());
  assembler.archive_numbers(a);
  if constexpr (A::reads) {
    assembler.read_again();
    push_out.read_again();
    governor.read_again();
    known_fingerprint.reset();
  }
}

SharedSimulation::SharedSimulation(const Model& model, const SimulationOptions& options)
    : simulation_(ModelNumbers::own(model), options), start_(simulation_.state()) {
  take_memory();
}

// Joint and soft rows have the same blocks in every step of every world: their places are made once, at a state that
// is known to be good.
void SharedSimulation::take_memory() {
  Simulation::Impl& impl = *simulation_.impl_;
  impl.assembler.assemble(start_, impl.inputs, impl.options().dt);
  impl.assembler.forget();
}

void SharedSimulation::mend() {
  if (!simulation_.impl_->broken) return;
  Simulation::Impl::mend(simulation_.impl_);
  take_memory();
}

void SharedSimulation::load(std::string_view world) {
  MemoryReader in(world);
  simulation_.impl_->archive(in);
}

std::string_view SharedSimulation::store() {
  MemoryWriter out(world_);
  simulation_.impl_->archive(out);
  return world_;
}

void SharedSimulation::set_numbers(std::string_view numbers) {
  MemoryReader in(numbers);
  simulation_.impl_->archive_numbers(in);
}

std::string SharedSimulation::numbers_of(Simulation& simulation) {
  std::string numbers;
  MemoryWriter out(numbers);
  simulation.impl_->archive_numbers(out);
  return numbers;
}

const Inputs& SharedSimulation::inputs() const { return simulation_.impl_->inputs; }

// Of options, all that the bits of a step depend on: not the number of threads, and not the wall time it may take.
std::uint64_t Simulation::Impl::fingerprint() {
  if (known_fingerprint) return *known_fingerprint;
  Hash64 h;
  const auto text = [&h](std::string_view s) {
    h.bytes(s.data(), s.size());
    h.add(std::uint64_t{s.size()});
  };
  const auto solver_of = [&](std::string_view name, const SolverParameters& parameters) {
    text(name);
    h.add(std::uint64_t{parameters.size()});
    for (const auto& [key, value] : parameters) {
      text(key);
      h.add(value);
    }
  };
  const SimulationOptions& o = options();
  solver_of(o.solver, o.solver_parameters);
  solver_of(o.fallback, o.fallback_parameters);
  text(name_of(*o.integrator));
  for (const double x : {o.dt, o.tolerance, o.acceptable, o.projection_tolerance, o.acceptable_gap}) h.add(x);
  for (const int n : {static_cast<int>(o.criterion), o.budget, o.max_substep_depth, o.projection_iterations,
                      static_cast<int>(o.warm_start), static_cast<int>(o.projection)}) {
    h.add(static_cast<std::uint64_t>(n));
  }
  const auto& [erp_joint, erp_limit, erp_contact, contact_slop, push_out_speed, contact_compliance, contact_give,
               restitution_threshold, limit_margin, restitution] = o.rows;
  for (const double x : {erp_joint, erp_limit, erp_contact, contact_slop, push_out_speed, contact_compliance,
                         contact_give, restitution_threshold, limit_margin}) {
    h.add(x);
  }
  h.add(restitution ? 1 + static_cast<std::uint64_t>(*restitution) : 0);
  const auto& [margin, speculative_factor] = o.collision;
  for (const double x : {margin, speculative_factor}) h.add(x);
  h.add(sarrus::fingerprint(model()));
  known_fingerprint = h.value();
  return *known_fingerprint;
}

void Simulation::Impl::load(const Snapshot& snapshot) {
  ArchiveReader in(snapshot.bytes());
  archive(in);
  require(in.at_end(), "it goes on after its end");
}

Snapshot Simulation::snapshot() const {
  ArchiveWriter out;
  if (impl_->broken) {
    impl_->anew()->archive(out);
  } else {
    impl_->archive(out);
  }
  return Snapshot(out.bytes());
}

void Simulation::restore(const Snapshot& snapshot) {
  Impl::mend(impl_);
  const State state = impl_->state;
  const Inputs inputs = impl_->inputs;
  const auto take_back = [&] {
    impl_->inputs = inputs;
    set_state(state);
  };
  try {
    impl_->load(snapshot);
  } catch (const ArchiveError& e) {
    take_back();
    throw InputError("snapshot", fmt::format("{}; take one of the same model and options", e.what()));
  } catch (...) {
    take_back();
    throw;
  }
}

}  // namespace sarrus
