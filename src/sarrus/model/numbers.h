// The numbers of a model that worlds may have different values of while they share all else: masses, frictions, gains,
// springs, limits, gravity, reference poses. Names, joints, shapes, filters and compliances are none of them.
//
// Internal to what runs many worlds with one simulation (step/shared_simulation.h); others change a model with
// parameters.h, which checks what it makes.
#pragma once

#include "sarrus/model/model.h"

namespace sarrus {

class ModelNumbers {
 public:
  // A model of its own: it shares numbers with no other, its own copies excepted.
  static Model own(const Model& model);

  // Writes the numbers of a model, or reads them into one made by own(): all of its copies then have them.
  template <class A>
  static void archive(A& a, const Model& model) {
    auto& f = const_cast<Model::Frozen&>(*model.d_);  // NOLINT: own() made it, and not as a constant
    a(f.data.gravity, f.largest_gravity);
    for (Body& b : f.data.bodies) {
      a(b.mass);
      a.raw(b.inertia_B.data(), 9 * sizeof(double));
      a(b.X_WB0.p);
      a.raw(b.X_WB0.q.coeffs().data(), 4 * sizeof(double));
      a(b.v0_W, b.w0_W, b.gravity_scale, b.linear_damping, b.angular_damping);
    }
    for (Dof& d : f.data.dofs) archive_law(a, d);
    for (Combination& c : f.data.combinations) archive_law(a, c.law);
    for (Dof& d : f.with_combinations) archive_law(a, d);
    for (Material& m : f.data.materials) a(m.mu, m.restitution);
    for (MaterialPair& p : f.data.material_pairs) a(p.mu, p.restitution);
    for (ContactPair& p : f.data.contact_pairs) a(p.mu, p.restitution);
    for (double& size : f.joint_size) a(size);
    for (double& reach : f.reach) a(reach);
  }

 private:
  template <class A>
  static void archive_law(A& a, Dof& d) {
    a(d.limit.lower, d.limit.upper, d.limit.restitution, d.armature, d.stiffness, d.rest, d.damping, d.dry_friction);
    if (d.initial) a(*d.initial);
    Drive& v = d.drive;
    a(v.kp, v.kd, v.effort_limit, v.effort_lower, v.effort_upper, v.target_lower, v.target_upper);
    a(v.target.offset, v.target.rate, v.target.amplitude, v.target.frequency, v.target.phase);
  }
};

}  // namespace sarrus
