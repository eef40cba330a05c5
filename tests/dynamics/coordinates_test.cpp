// Schemes and coordinates: names, the two attitude maps, and coordinates other than a node of six per body.
#include "sarrus/dynamics/coordinates.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <string>
#include <vector>

#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"
#include "sarrus/model/builder.h"

namespace sarrus::coordinates_test {
namespace {

TEST(Schemes, AreFoundByName) {
  for (const Scheme& s : schemes()) {
    EXPECT_EQ(integrator_from_name(s.name), s.integrator);
    EXPECT_EQ(scheme_of(s.integrator).name, s.name);
    EXPECT_EQ(name_of(s.integrator), s.name);
  }
  try {
    integrator_from_name("euler");
    ADD_FAILURE() << "not refused";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("semi-implicit, moreau"), std::string::npos) << e.what();
  }
}

TEST(Schemes, OfAModelAreRefusedWithFileAndRemedy) {
  const auto error_of = [](const std::string& file, const std::string& name) -> std::string {
    ModelBuilder b("scene");
    b.set_source(file);
    RunDefaults run;
    run.integrator = name;
    b.set_defaults(run);
    try {
      return std::string(name_of(recommended_integrator(b.build())));
    } catch (const InputError& e) {
      return e.what();
    }
  };
  EXPECT_EQ(error_of("a.json", "midpoint"), "midpoint");
  EXPECT_EQ(error_of("a.json", "moreu"), "a.json: scene: run.integrator 'moreu' is unknown; did you mean 'moreau'?");
  const std::string far = error_of("", "rk4\n");
  EXPECT_EQ(far.find("scene: run.integrator 'rk4\\x0a' is unknown; use one of "), 0u) << far;
  EXPECT_NE(far.find("semi-implicit"), std::string::npos) << far;
}

TEST(Coordinates, GatherAndScatterAreInverse) {
  ModelBuilder b("two");
  for (const char* name : {"a", "b"}) b.add_body(name, 2, Vec3(1, 2, 3).asDiagonal(), {});
  const Model model = b.build();
  const auto maximal = maximal_coordinates(model);
  std::vector<Vec6> twist = {Vec6(Vec6::LinSpaced(6, 1, 6)), Vec6(Vec6::LinSpaced(6, 7, 12))}, back(2);
  VecX u(maximal->velocity_size());
  const std::vector<Pose> X(2);
  maximal->gather(X, twist, u);
  EXPECT_EQ(u, VecX(VecX::LinSpaced(12, 1, 12)));
  maximal->scatter(X, u, back);
  EXPECT_EQ(back, twist);
}

TEST(Coordinates, MoveByTheExponentialOrTheCayleyMap) {
  ModelBuilder b("one");
  b.add_body("a", 1, Mat3::Identity(), {});
  const Model model = b.build();
  const auto maximal = maximal_coordinates(model);
  const std::vector<Pose> from = {{Vec3(1, 2, 3), so3_exp(Vec3(0.3, -0.2, 0.9))}};
  VecX u(6);
  u << 1, 0, -1, 0.4, 2.0, -0.7;
  std::vector<Pose> to(1);
  maximal->integrate(from, u, 0.5, AttitudeMap::exponential, to);
  EXPECT_LT((to[0].R() - so3_exp(0.5 * u.tail<3>()).toRotationMatrix() * from[0].R()).norm(), 1e-14);
  EXPECT_LT((to[0].p - Vec3(1.5, 2, 2.5)).norm(), 1e-15);
  maximal->integrate(from, u, 0.5, AttitudeMap::cayley, to);
  const Mat3 half = 0.25 * skew(u.tail<3>());
  const Mat3 cayley = (Mat3::Identity() - half).inverse() * (Mat3::Identity() + half);
  EXPECT_LT((to[0].R() - cayley * from[0].R()).norm(), 1e-14);
}

}  // namespace
}  // namespace sarrus::coordinates_test
