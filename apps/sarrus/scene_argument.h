// The SCENE argument of the commands: a scene file or the name of a built-in scene.
#pragma once

#include <string>

#include "sarrus/model/model.h"

namespace sarrus::app {

// Throws InputError; for an argument that is neither, with the nearest file or built-in name.
Model resolve_scene(const std::string& argument);

}  // namespace sarrus::app
