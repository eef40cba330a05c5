#include "sarrus/scenes/scenes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sarrus/math/error.h"
#include "sarrus/math/text.h"
#include "sarrus/scenes/scenes_internal.h"

namespace sarrus {

const std::vector<SceneInfo>& scene_registry() {
  static const std::vector<SceneInfo> registry = {
      {"box_on_plane", "a 1 kg cube dropped on a floor", scenes::box_on_plane},
      {"boxes_fixed", "1 kg and 1000 kg cubes welded together, dropped on a floor", scenes::boxes_fixed},
      {"nunchuk", "two bars and a ball on two spherical joints, dropped on a floor", scenes::nunchuk},
      {"fourbar_fixed", "a small driven four-bar welded to the world (26 rows, rank 23)", scenes::fourbar_fixed},
      {"fourbar_free", "the same four-bar standing free on a floor (20 rows, rank 17)", scenes::fourbar_free},
      {"free_body", "a free body flips about its middle axis (Dzhanibekov effect)", scenes::free_body},
      {"spinning_top", "a top in exact steady precession on a spherical joint", scenes::spinning_top},
      {"arm7d", "a welded arm of seven driven hinges", scenes::arm7d},
      {"quadruped", "four legs of three hinges trot on the spot", scenes::quadruped},
      {"bdx_like", "two legs and a neck, 14 hinges, mass ratio 42 (stand-in for BDX)", scenes::bdx_like},
      {"lima_like", "a humanoid of 20 hinges, mass ratio 321 (stand-in for LIMA)", scenes::lima_like},
      {"misha_like", "arms with four-bar hands, more drives than freedoms (Misha)", scenes::misha_like},
      {"walker_like", "legs with six four-bars, 180 rows of rank 162 (Walker)", scenes::walker_like},
      {"gazelle_like", "planar and spatial loops, mass ratio 1013 (Gazelle)", scenes::gazelle_like},
      {"ironman_like", "thirteen spatial loops, mass ratio 25544 (IronMan)", scenes::ironman_like},
      {"fourbar_swing", "a four-bar of unequal bars swings under gravity from rest", scenes::fourbar_swing},
      {"fourbar_parallelogram", "four equal bars swing as a parallelogram", scenes::fourbar_parallelogram},
      {"double_pendulum", "two 1 m bars released from the horizontal", scenes::double_pendulum},
      {"slider_crank", "a crank at constant speed drives a slider", scenes::slider_crank},
      {"bennett_linkage", "four skew hinges that move although Gruebler says -2", scenes::bennett_linkage},
      {"sarrus_linkage", "hinged plates guide a platform along a straight line", scenes::sarrus_linkage},
      {"stewart_platform", "a platform on six UPS legs with position servos", scenes::stewart_platform},
      {"jansen_walker", "Theo Jansen's linkage with eight legs walks on a floor", scenes::jansen_walker},
      {"jansen_swarm20", "twenty of them, 1000 bodies", scenes::jansen_swarm20},
      {"delta_robot", "a delta robot of three arms and six rods carries a cube", scenes::delta_robot},
      {"fivebar_leg", "a quadruped with closed five-bar legs trots on the spot", scenes::fivebar_leg},
      {"ring20", "20 hinged cubes in a closed ring dropped flat on a floor", scenes::ring20},
      {"ring20_tilted", "the ring of 20 cubes dropped with a tilt of 10 degrees", scenes::ring20_tilted},
      {"stack15", "15 cubes, 1 kg at the bottom to 10 t at the top", scenes::stack15},
      {"stack15_equal", "15 cubes of 1 kg", scenes::stack15_equal},
      {"box_wall", "a pyramid of 15 cubes (mass ratio 10^4) hit by a heavy ball", scenes::box_wall},
      {"clutter40", "40 spheres and cubes dropped into a box with walls", scenes::clutter40},
      {"sphere_stack", "20 spheres stacked exactly on top of each other", scenes::sphere_stack},
      {"incline", "four boxes with four friction coefficients on a 15 degree incline", scenes::incline},
      {"mixed_pile", "36 bodies of eight shapes dropped into a box with walls", scenes::mixed_pile},
      {"cylinder_rolling", "cylinders and spheres slide into rolling on a floor", scenes::cylinder_rolling},
      {"ellipsoid_rolling", "spheroids roll on a floor, an ellipsoid rocks", scenes::ellipsoid_rolling},
      {"mesh_floor", "a box, a cylinder and a ball move over a flat triangle mesh", scenes::mesh_floor},
      {"height_field", "a box slides down terrain, others tumble over its bumps", scenes::height_field},
      {"hull_gears", "a driven gear of convex teeth turns another one", scenes::hull_gears},
      {"dominoes", "50 dominoes in a row, the first one tipped over", scenes::dominoes},
      {"spring_cylinder", "a cylinder on a spring rolls to and fro on a soft floor", scenes::spring_cylinder},
      {"spring_cylinder_smooth", "the same cylinder without friction: it slides", scenes::spring_cylinder_smooth},
      {"clutter40_soft", "clutter40 with compliant contacts and steps of 10 ms", scenes::clutter40_soft},
      {"clutter40_soft_open", "the same without walls", scenes::clutter40_soft_open},
      {"pendulum_stop", "a pendulum falls against an elastic stop of 1e12 N m/rad", scenes::pendulum_stop},
      {"foundation_cube", "a cube on an elastic foundation of 100 springs", scenes::foundation_cube},
      {"incline_hertz", "the incline, boxes on spherical feet with Hertz contacts", scenes::incline_hertz},
      {"sphere_stack100", "100 spheres with gaps fall on each other and stay stacked", scenes::sphere_stack100},
      {"slip_control", "a spatula slips and sticks between two soft pads", scenes::slip_control},
      {"log_grasp", "a crane grasps a log, lifts and turns it (MLCP benchmark)", scenes::log_grasp},
      {"winch", "a drum winds up a chain of 50 capsules (MLCP benchmark)", scenes::winch},
      {"closed_loop_drop", "the ring of 20 cubes with regularised rows (MLCP benchmark)", scenes::closed_loop_drop},
      {"brick_wall", "30 bricks in 12 courses stand (MLCP benchmark)", scenes::brick_wall},
  };
  return registry;
}

bool is_builtin_scene(std::string_view name) {
  return std::ranges::any_of(scene_registry(), [name](const SceneInfo& s) { return s.name == name; });
}

Model make_scene(std::string_view name) {
  std::vector<std::string> known;
  for (const SceneInfo& s : scene_registry()) {
    if (s.name == name) return s.make();
    known.emplace_back(s.name);
  }
  const std::string near = nearest_name(name, known);
  throw InputError(fmt::format("scene '{}'", name),
                   near.empty() ? fmt::format("no built-in scene has this name; use one of {}", fmt::join(known, ", "))
                                : fmt::format("no built-in scene has this name; did you mean '{}'?", near));
}

}  // namespace sarrus
