// Bodies at rest on one another, for all kinds of pairs: B stands on A, contact plane z = 0, normal +z. Each scene
// draws its poses and sizes at random; at gap g B is lifted by g.
#pragma once

#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "collision/oracles.h"

namespace sarrus::oracle {

struct Rest {
  Shape a;
  Pose X_WA;
  Shape b;
  Pose X_WB;
};

struct RestingScene {
  std::string name;
  int fewest;  // points
  int most;
  double normal_error;  // rad
  std::function<Rest(Random&)> draw;
};

inline constexpr double kPi = std::numbers::pi;

inline Quat about_z(double angle) { return so3_exp({0, 0, angle}); }
inline Quat any_yaw(Random& random) { return about_z(random.uniform(0, 2 * kPi)); }
// Axis along y, the body turned about it at random.
inline Quat lying(Random& random) { return so3_exp({kPi / 2, 0, 0}) * any_yaw(random); }
inline Vec3 beside(Random& random, double half, double z) {
  return {random.uniform(-half, half), random.uniform(-half, half), z};
}

// A prism over a polygon with n corners on a circle, as a hull. `uneven`: corners at irregular angles.
inline Shape prism(Random& random, int n, double radius, double half_height, bool uneven = false) {
  const double phase = random.uniform(0, 1);
  std::vector<Vec3> x;
  for (int k = 0; k < n; ++k) {
    const double angle = phase + 2 * kPi * (k + (uneven ? random.uniform(-0.3, 0.3) : 0.0)) / n;
    for (const double z : {half_height, -half_height}) {
      x.push_back({radius * std::cos(angle), radius * std::sin(angle), z});
    }
  }
  return Shape::convex(ConvexHull::build(x, "prism"));
}

// Pose in which the hull stands on its face f with the face's middle at the origin.
inline Pose on_face(const ConvexHull& hull, int f, double yaw) {
  const ConvexHull::Face& face = hull.faces()[static_cast<std::size_t>(f)];
  const Quat q = about_z(yaw) * Quat::FromTwoVectors(face.normal, -Vec3::UnitZ());
  Vec3 middle = Vec3::Zero();
  for (const int v : hull.face_vertices(f)) middle += q * hull.vertex(v) / face.size;
  return {Vec3(-middle.x(), -middle.y(), face.offset), q};
}

class RestingScenes {
 public:
  std::vector<RestingScene> all() {
    on_plane();
    on_box();
    on_cylinder();
    on_hull();
    return scenes_;
  }

 private:
  void add(const std::string& name, int fewest, int most, const std::function<Rest(Random&)>& draw,
           double normal_error = 1e-9) {
    scenes_.push_back({name, fewest, most, normal_error, draw});
  }

  void on_plane() {
    const auto put = [](const Shape& b, const Pose& X) { return Rest{Shape::plane(), {}, b, X}; };
    add("plane_box", 4, 4, [=](Random& r) {
      return put(Shape::box({0.1, 0.2, 0.1}), {beside(r, 0.3, 0.1), any_yaw(r)});
    });
    add("plane_cylinder_standing", 8, 8, [=](Random& r) {
      return put(Shape::cylinder(0.1, 0.15), {beside(r, 0.3, 0.15), any_yaw(r)});
    });
    add("plane_cylinder_lying", 2, 2, [=](Random& r) {
      return put(Shape::cylinder(0.1, 0.15), {beside(r, 0.3, 0.1), any_yaw(r) * lying(r)});
    });
    add("plane_ellipsoid", 1, 1, [=](Random& r) {
      return put(Shape::ellipsoid({0.2, 0.15, 0.1}), {beside(r, 0.3, 0.1), any_yaw(r)});
    });
    for (const int n : {3, 6, 9, 16, 32, 40, 100}) {
      add("plane_prism" + std::to_string(n), std::min(n, 8), std::min(n, 8), [=](Random& r) {
        return put(prism(r, n, 0.1, 0.1), {beside(r, 0.3, 0.1), any_yaw(r)});
      });
    }
    add("plane_uneven_prism", 8, 8, [=](Random& r) {
      return put(prism(r, r.integer(9, 32), 0.1, 0.1, true), {beside(r, 0.3, 0.1), any_yaw(r)});
    });
    for (const int n : {50, 300}) {  // neighbours of the lowest face may be within the margin
      add("plane_hull" + std::to_string(n), 3, 8, [=](Random& r) {
        const Shape hull = r.hull(n);
        return put(hull, on_face(*hull.hull, r.integer(0, hull.hull->face_count() - 1), r.uniform(0, 6)));
      });
    }
  }

  void on_box() {
    const auto put = [](const Shape& b, const Pose& X) {
      return Rest{Shape::box({1, 1, 0.5}), {Vec3(0, 0, -0.5), Quat::Identity()}, b, X};
    };
    const auto on_cube = [](Random& r, const Shape& b, const Pose& X) {
      return Rest{Shape::box({0.1, 0.1, 0.1}), {Vec3(0, 0, -0.1), any_yaw(r)}, b, X};
    };
    add("box_box", 3, 8, [=](Random& r) {
      return on_cube(r, Shape::box({0.1, 0.1, 0.1}), {beside(r, 0.09, 0.1), any_yaw(r)});
    });
    add("box_cylinder_standing", 8, 8, [=](Random& r) {
      return put(Shape::cylinder(0.1, 0.15), {beside(r, 0.3, 0.15), any_yaw(r)});
    });
    add("box_cylinder_over_a_corner", 3, 8, [=](Random& r) {
      return put(Shape::cylinder(0.1, 0.15), {Vec3(0.96, 0.96, 0) + beside(r, 0.04, 0.15), any_yaw(r)});
    });
    add("box_cylinder_lying", 2, 2, [=](Random& r) {
      return put(Shape::cylinder(0.1, 0.15), {beside(r, 0.3, 0.1), any_yaw(r) * lying(r)});
    });
    add("box_cylinder_lying_over_an_edge", 2, 2, [=](Random& r) {
      return put(Shape::cylinder(0.1, 0.15), {Vec3(0.95, 0, 0) + beside(r, 0.04, 0.1), any_yaw(r) * lying(r)});
    });
    add(
        "box_ellipsoid", 1, 1,
        [=](Random& r) {
          return put(Shape::ellipsoid({0.2, 0.15, 0.1}), {beside(r, 0.3, 0.1), any_yaw(r)});
        },
        1e-5);
    for (const int n : {6, 9, 12, 20, 32, 100}) {
      add("box_prism" + std::to_string(n), std::min(n, 8), std::min(n, 8), [=](Random& r) {
        return put(prism(r, n, 0.1, 0.1), {beside(r, 0.3, 0.1), any_yaw(r)});
      });
      add("cube_prism" + std::to_string(n), 3, 8, [=](Random& r) {
        return on_cube(r, prism(r, n, 0.12, 0.1), {beside(r, 0.09, 0.1), any_yaw(r)});
      });
    }
    add("box_uneven_prism", 8, 8, [=](Random& r) {
      return put(prism(r, r.integer(9, 32), 0.1, 0.1, true), {beside(r, 0.3, 0.1), any_yaw(r)});
    });
    add("box_hull300", 3, 3, [=](Random& r) {
      const Shape hull = r.hull(300);
      return put(hull, on_face(*hull.hull, r.integer(0, hull.hull->face_count() - 1), r.uniform(0, 6)));
    });
  }

  void on_cylinder() {
    const auto on_cap = [](Random& r, const Shape& b, const Pose& X) {
      return Rest{Shape::cylinder(0.1, 0.1), {Vec3(0, 0, -0.1), any_yaw(r)}, b, X};
    };
    const auto on_side = [](Random& r, const Shape& b, const Pose& X) {
      return Rest{Shape::cylinder(0.1, 0.1), {Vec3(0, 0, -0.1), lying(r)}, b, X};
    };
    const Shape can = Shape::cylinder(0.1, 0.15);
    add("cylinder_cylinder_coaxial", 8, 8, [=](Random& r) { return on_cap(r, can, {Vec3(0, 0, 0.15), any_yaw(r)}); });
    for (const double turn : {0.0, kPi / 8}) {  // corners on corners, corners over the middles of edges
      add(turn == 0 ? "cylinder_cylinder_equal" : "cylinder_cylinder_turned", 8, 8, [=](Random& r) {
        Rest rest = on_cap(r, can, {});
        rest.X_WB = {Vec3(0, 0, 0.15), rest.X_WA.q * about_z(turn)};
        return rest;
      });
    }
    add("cylinder_cylinder_stacked", 3, 8, [=](Random& r) {
      return on_cap(r, Shape::cylinder(r.uniform(0.08, 0.12), 0.15), {beside(r, 0.05, 0.15), any_yaw(r)});
    });
    add(
        "cylinder_cylinder_side_by_side", 2, 2,
        [=](Random& r) {
          return on_side(r, can, {Vec3(0, r.uniform(-0.1, 0.1), 0.1), lying(r)});
        },
        1e-4);
    add(
        "cylinder_cylinder_crossed", 1, 1,
        [=](Random& r) {
          return on_side(r, can, {beside(r, 0.02, 0.1), about_z(r.uniform(0.4, 1.5)) * lying(r)});
        },
        1e-4);
    add("cylinder_cylinder_lying_on_cap", 2, 2, [=](Random& r) {
      return on_cap(r, can, {beside(r, 0.05, 0.1), any_yaw(r) * lying(r)});
    });
    const Shape rod = Shape::capsule(0.05, 0.15);
    add(
        "cylinder_capsule_side_by_side", 2, 2,
        [=](Random& r) {
          return on_side(r, rod, {Vec3(0, r.uniform(-0.1, 0.1), 0.05), lying(r)});
        },
        1e-4);
    add(
        "cylinder_capsule_crossed", 1, 1,
        [=](Random& r) {
          return on_side(r, rod, {beside(r, 0.02, 0.05), about_z(r.uniform(0.4, 1.5)) * lying(r)});
        },
        1e-4);
    add("cylinder_capsule_on_cap", 2, 2, [=](Random& r) {
      return on_cap(r, rod, {beside(r, 0.05, 0.05), any_yaw(r) * lying(r)});
    });
    add(
        "cylinder_ellipsoid", 1, 1,
        [=](Random& r) {
          return on_cap(r, Shape::ellipsoid({0.1, 0.07, 0.05}), {beside(r, 0.05, 0.05), any_yaw(r)});
        },
        1e-5);
    add("cylinder_prism", 3, 8, [=](Random& r) {
      return on_cap(r, prism(r, 12, 0.12, 0.1), {beside(r, 0.05, 0.1), any_yaw(r)});
    });
    add("cylinder_sphere", 1, 1, [=](Random& r) {
      return on_cap(r, Shape::sphere(0.05), {beside(r, 0.05, 0.05), any_yaw(r)});
    });
  }

  void on_hull() {
    const auto put = [](Random& r, int n, const Shape& b, const Pose& X) {
      return Rest{prism(r, n, 0.1, 0.1), {Vec3(0, 0, -0.1), any_yaw(r)}, b, X};
    };
    for (const int n : {6, 12, 32}) {
      for (const int m : {5, 12, 32}) {
        add("prism" + std::to_string(n) + "_prism" + std::to_string(m), 3, 8, [=](Random& r) {
          return put(r, n, prism(r, m, 0.12, 0.1), {beside(r, 0.05, 0.1), any_yaw(r)});
        });
      }
    }
    add("equal_prisms", 8, 8, [=](Random& r) {
      Rest rest = put(r, 12, {}, {});
      rest.b = rest.a;
      rest.X_WB = {Vec3(0, 0, 0.1), rest.X_WA.q};
      return rest;
    });
    add("prism_capsule", 2, 2, [=](Random& r) {
      return put(r, 12, Shape::capsule(0.05, 0.15), {beside(r, 0.05, 0.05), any_yaw(r) * lying(r)});
    });
    add("prism_sphere", 1, 1, [=](Random& r) {
      return put(r, 12, Shape::sphere(0.05), {beside(r, 0.05, 0.05), any_yaw(r)});
    });
    add(
        "prism_ellipsoid", 1, 1,
        [=](Random& r) {
          return put(r, 12, Shape::ellipsoid({0.1, 0.07, 0.05}), {beside(r, 0.05, 0.05), any_yaw(r)});
        },
        1e-5);
    add(
        "ellipsoid_ellipsoid", 1, 1,
        [](Random& r) {
          return Rest{Shape::ellipsoid({0.2, 0.1, 0.1}),
                      {Vec3(0, 0, -0.1), any_yaw(r)},
                      Shape::ellipsoid({0.1, 0.07, 0.05}),
                      {Vec3(0, 0, 0.05), any_yaw(r)}};
        },
        1e-4);
    add("ellipsoid_sphere", 1, 1, [](Random& r) {
      return Rest{Shape::ellipsoid({0.2, 0.15, 0.1}),
                  {Vec3(0, 0, -0.1), any_yaw(r)},
                  Shape::sphere(0.05),
                  {Vec3(0, 0, 0.05), any_yaw(r)}};
    });
  }

  std::vector<RestingScene> scenes_;
};

}  // namespace sarrus::oracle
