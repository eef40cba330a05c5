// Without libsdformat at build time.
#include "sarrus/math/error.h"
#include "sarrus/robot_files/sdf_reader.h"

namespace sarrus::robot {

Graph read_sdf(xml::Node root, const Folders&, Findings&) {
  xml::fail(root,
            "is SDF, and this program was built without libsdformat; install it (Debian: libsdformat-dev) and build "
            "again");
}

}  // namespace sarrus::robot
