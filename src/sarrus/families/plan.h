// What a family describes before it becomes a constraint problem: a model (bodies and joints at their reference pose),
// limits at a given gap, and contact points with vertical normals.
#pragma once

#include <cstdint>
#include <vector>

#include "sarrus/collision/contact.h"
#include "sarrus/math/random.h"
#include "sarrus/model/builder.h"
#include "sarrus/problem/constraint_problem.h"

namespace sarrus::families {

inline constexpr double kStep = 0.01;      // s
inline constexpr double kSmallGap = 1e-4;  // m, contacts that are open at the start

class Plan {
 public:
  // noise: nu of families.h.
  explicit Plan(double noise) : model_("family"), noise_(noise) {}

  int add_box(double mass, const Vec3& half_extents, const Pose& X_WB);
  // Bar of square section between two points.
  int add_bar(double mass, const Vec3& from, const Vec3& to, double width = 0.02);
  int add_joint(JointType type, int base, int follower, const Vec3& anchor_W, const Quat& axes_W = Quat::Identity());
  int add_hinge(int base, int follower, const Vec3& anchor_W, const Vec3& axis_W);
  // The first dof of the joint may move by `gap` in direction -side and then stops.
  void add_limit(int joint, double side, double gap) { limits_.push_back({joint, side, gap}); }
  // Normal +z, from `below` (kWorld: the floor) to `above`.
  void add_contact(int below, int above, const Vec3& point_W, double mu, double gap = 0);
  void set_mass(int body, double mass);
  void set_velocity(int body, const Vec3& v_W) { model_.set_velocity(body, v_W, Vec3::Zero()); }
  Vec3 centre(int body) { return model_.body(body).X_WB0.p; }
  int body_count() const { return bodies_; }

  // Rows by rows/rows.h. Throws std::logic_error if a loop is open by more than round-off.
  ConstraintProblem assemble(Random& random) const;

 private:
  struct PlannedLimit {
    int joint;
    double side;
    double gap;
  };

  ModelBuilder model_;
  double noise_;
  int bodies_ = 0;
  int joints_ = 0;
  std::vector<PlannedLimit> limits_;
  std::vector<Contact> contacts_;
};

// Corners A (crank), B, C, D (rocker) of a planar four-bar with ground AD.
struct Quadrilateral {
  Vec3 A, B, C, D;
};
// In the plane spanned by the unit vectors e1 (from A to D) and e2 (the side of B and C).
Quadrilateral quadrilateral(const Vec3& A, const Vec3& e1, const Vec3& e2, double ground, double crank, double coupler,
                            double rocker, double angle);

// Bodies of a four-bar module: three links, four hinges; `closure` is the joint at D (spherical: loses two of the three
// redundant rows of the planar loop).
struct FourBar {
  int crank, coupler, rocker;
  int crank_joint;
};
FourBar add_fourbar(Plan& plan, int ground, const Quadrilateral& points, const Vec3& axis_W, JointType closure);

// The four corners of a rectangle at height z.
void add_corner_contacts(Plan& plan, int below, int above, const Vec3& centre_W, const Vec3& half_x, const Vec3& half_y,
                         double mu);

// Uniform noise of families.h on every free velocity: bodies have six components.
void add_noise(ConstraintProblem& problem, double nu, Random& random);

}  // namespace sarrus::families
