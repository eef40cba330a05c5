// Private to this folder: the scene builders that scenes.cpp registers, and what they share.
#pragma once

#include <numbers>
#include <span>
#include <string>

#include "sarrus/model/builder.h"

namespace sarrus::scenes {

// primitives.cpp
Model box_on_plane();
Model boxes_fixed();
Model nunchuk();
Model fourbar_fixed();
Model fourbar_free();
Model free_body();
Model spinning_top();

// linkages.cpp
Model fourbar_swing();
Model fourbar_parallelogram();
Model double_pendulum();
Model slider_crank();

// spatial.cpp
Model bennett_linkage();
Model sarrus_linkage();
Model stewart_platform();

// jansen.cpp
Model jansen_walker();
Model jansen_swarm20();

// stacks.cpp
Model ring20();
Model ring20_tilted();
Model stack15();
Model stack15_equal();
Model box_wall();
Model clutter40();
Model clutter40_soft();
Model clutter40_soft_open();
Model clutter_of(int bodies, bool walls);
Model soft_clutter_of(int bodies, bool walls);
Model sphere_stack();
Model incline();
Model closed_loop_drop();

// mlcp_scenes.cpp
Model log_grasp();
Model winch();
Model brick_wall();
// Step, duration and the regularised material (mu = 1) of the MLCP scenarios; returns the material.
int begin_mlcp_scene(ModelBuilder& b);

// shapes.cpp
Model mixed_pile();
Model cylinder_rolling();
Model ellipsoid_rolling();
Model mesh_floor();
Model height_field();
Model hull_gears();
Model dominoes();

// papers.cpp
Model spring_cylinder();
Model spring_cylinder_smooth();
Model pendulum_stop();
Model foundation_cube();
Model incline_hertz();
Model sphere_stack100();
Model slip_control();

// standins.cpp
Model bdx_like();
Model lima_like();
Model misha_like();
Model walker_like();
Model gazelle_like();
Model ironman_like();

// robots.cpp
Model arm7d();
Model quadruped();
Model delta_robot();
Model fivebar_leg();

// common.cpp ------------------------------------------------------------------------------------------

inline constexpr double kPi = std::numbers::pi;
double radians(double degrees);

// A prism with n-sided ends, axis z; the first corner is on +x.
Shape prism(int n, double radius, double half_length);

// Joint frame of a hinge along +y: positive angles turn z towards x.
Quat hinge_y();

// A geom that is drawn but collides with nothing. Planar linkages need it: their bars share one plane and
// pass through each other.
int add_display_geom(ModelBuilder& b, int body, const Shape& shape, const Pose& X_BG = {});

// Pose of a bar from `from` to `to`: origin in the middle, x along the bar, y as close to `side` as possible
// (anywhere if the bar is parallel to `side`).
Pose bar_pose(const Vec3& from, const Vec3& to, const Vec3& side = Vec3::UnitY());

enum class Collides : bool { no, yes };

// A solid box bar; `section` is its full size along its y and z axes.
int add_bar(ModelBuilder& b, std::string name, double mass, const Vec3& from, const Vec3& to, const Vec2& section,
            Collides collides, const Vec3& side = Vec3::UnitY());

struct Segment {
  Vec3 from;
  Vec3 to;
};

// One rigid body made of bars of equal line density (triangles of a linkage, a crankshaft), each as in
// add_bar. Its axes are the world axes at the reference pose. Drawn, not colliding.
int add_frame(ModelBuilder& b, std::string name, double mass, std::span<const Segment> bars, const Vec2& section);

// The corner points of a planar four-bar: ground A-D, crank A-B, coupler B-C, rocker D-C.
struct FourBarPoints {
  Vec3 A, B, C, D;
};

// The three hinges at B, C, D after the crank's hinge at A ("crank"), all along +y. Returns the crank hinge.
int add_fourbar_hinges(ModelBuilder& b, const FourBarPoints& p, int ground, int crank, int coupler, int rocker);

// The intersection of two circles in the (x, z) plane that lies to the left of the way from p to q, x to the
// right and z up; the other one is found by exchanging the circles. The circles must meet.
Vec2 circle_intersection(const Vec2& p, double radius_p, const Vec2& q, double radius_q);

}  // namespace sarrus::scenes
