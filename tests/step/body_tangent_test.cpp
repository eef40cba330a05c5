// One body's velocity made tangent to its contacts, against a dense projection by its definition.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/SVD>
#include <vector>

#include "effort.h"
#include "sarrus/math/random.h"
#include "sarrus/math/so3.h"
#include "sarrus/math/tools.h"
#include "sarrus/model/builder.h"
#include "sarrus/step/body_tangent.h"

namespace sarrus::body_tangent_test {
namespace {

Model box() {
  ModelBuilder b("box", "");
  b.add_solid("box", 2.0, Shape::box(Vec3(0.2, 0.1, 0.05)), {Vec3(0, 0, 0.05), Quat::Identity()});
  return b.build();
}

struct Touch {
  Contact contact;
  bool stuck;
};

struct Case {
  Pose X;
  std::vector<Touch> touches;
  Vec6 u;

  MatX rows() const {
    std::vector<Vec6> found;
    for (const Touch& t : touches) {
      const Vec3 arm = t.contact.p_W - X.p;
      const Mat3 R = contact_frame(t.contact.n_W);
      for (int k = t.stuck ? 0 : 2; k < 3; ++k) {
        const Vec3 n = R.col(k);
        found.push_back((Vec6() << n, arm.cross(n)).finished());
      }
    }
    MatX J(static_cast<Eigen::Index>(found.size()), 6);
    for (std::size_t i = 0; i < found.size(); ++i) J.row(static_cast<Eigen::Index>(i)) = found[i].transpose();
    return J;
  }
};

Vec3 vector(Random& random, double size) {
  return {random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)};
}

Case random_case(Random& random) {
  Case c;
  c.X = {vector(random, 3), so3_exp(vector(random, 3))};
  c.u << vector(random, 1), vector(random, 5);
  const Vec3 n = vector(random, 1).normalized();
  const int count = 1 + static_cast<int>(random.uniform(0, 5.99));
  for (int i = 0; i < count; ++i) {
    Contact x;
    x.body_a = kWorld;
    x.body_b = 0;
    x.p_W = c.X.p + vector(random, 0.2);
    x.n_W = random.uniform(0, 1) < 0.5 ? n : Vec3(vector(random, 1).normalized());
    c.touches.push_back({x, random.uniform(0, 1) < 0.5});
  }
  return c;
}

void finish(BodyTangent& tangent, const Case& c, double negligible, Vec6& u) {
  tangent.begin(0, c.X);
  for (const Touch& t : c.touches) tangent.add(t.contact, t.stuck);
  tangent.finish(1e-8, negligible, u);
}

// min 1/2 d' M d, J (u + d) = 0: with x = M^1/2 d this is the shortest x of J M^-1/2 x = -J u.
TEST(BodyTangent, IsTheProjectionInTheMetricOfTheMasses) {
  const Model model = box();
  const Body& body = model.bodies()[0];
  BodyTangent tangent(model);
  Random random(5);
  int compared = 0;
  for (int n = 0; n < test::samples(2000); ++n) {
    const Case c = random_case(random);
    Vec6 u = c.u;
    finish(tangent, c, 1e-13, u);
    const MatX J = c.rows();
    const Mat3 R = c.X.R();
    Mat6 M = Mat6::Identity() * body.mass;
    M.bottomRightCorner<3, 3>() = R * body.inertia_B * R.transpose();
    const Eigen::LLT<Mat6> llt(M);
    const MatX scaled = llt.matrixL().solve(J.transpose()).transpose();
    const Eigen::JacobiSVD<MatX> svd(scaled, Eigen::ComputeThinU | Eigen::ComputeThinV);
    if (svd.singularValues().minCoeff() < 0.05 * svd.singularValues().maxCoeff()) continue;  // redundant rows: below
    ++compared;
    ASSERT_LT((J * u).cwiseAbs().maxCoeff(), 1e-8) << n;
    const VecX x = svd.solve(VecX(-(J * c.u)));
    const Vec6 expected = c.u + Vec6(llt.matrixU().solve(x));
    // Rounding of J' G J u, 1e-16 / eps of it, over the smallest inertia.
    ASSERT_LT((u - expected).cwiseAbs().maxCoeff(), 2e-6) << n;
  }
  EXPECT_GT(compared, test::samples(2000) / 4);
}

// Four corners of a box that slides: eight rows more than are independent if it sticks, one if it does not.
TEST(BodyTangent, RedundantRowsDoNoHarm) {
  const Model model = box();
  BodyTangent tangent(model);
  for (const bool stuck : {false, true}) {
    Case c;
    c.X = {Vec3(1, 2, 0.05), Quat::Identity()};
    c.u << 0.3, -0.2, 0.01, 0.02, -0.03, 0.4;
    for (const double x : {-0.2, 0.2}) {
      for (const double y : {-0.1, 0.1}) {
        Contact corner;
        corner.body_a = kWorld;
        corner.body_b = 0;
        corner.p_W = c.X.p + Vec3(x, y, -0.05);
        corner.n_W = Vec3::UnitZ();
        c.touches.push_back({corner, stuck});
      }
    }
    Vec6 u = c.u;
    finish(tangent, c, 1e-13, u);
    Vec6 expected = Vec6::Zero();
    if (!stuck) expected << 0.3, -0.2, 0, 0, 0, 0.4;
    EXPECT_LT((u - expected).cwiseAbs().maxCoeff(), 1e-12) << stuck;
  }
}

TEST(BodyTangent, LeavesWhatIsNegligible) {
  const Model model = box();
  BodyTangent tangent(model);
  Random random(6);
  const Case c = random_case(random);
  Vec6 u = c.u;
  finish(tangent, c, 100, u);
  EXPECT_EQ(u, c.u);
}

}  // namespace
}  // namespace sarrus::body_tangent_test
