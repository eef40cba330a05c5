#include "sarrus/io/scene_file.h"

#include <fmt/format.h>

#include "sarrus/io/atomic_file.h"
#include "sarrus/io/scene_json.h"
#include "sarrus/io/scene_loader.h"
#include "sarrus/io/scene_save.h"
#include "sarrus/io/text_file.h"
#include "sarrus/math/error.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxBytes = std::uintmax_t{256} << 20;

// Puts the file in front of a message of the reader or of finish_model, which may quote any text of the file:
// escaping keeps it on one line.
InputError in_file(const std::string& source_name, const InputError& error) {
  constexpr std::size_t kMaxMessage = 4000;
  const std::string what = error.what();
  const std::string& element = error.element();
  const std::string message = element.empty() ? what : what.substr(element.size() + 2);
  const std::string place = element.empty() ? source_name : source_name + ": " + element;
  return InputError(scene::printable(place, kMaxMessage), scene::printable(message, kMaxMessage));
}

}  // namespace

Model parse_scene(std::string_view json_text, const std::string& source_name, const fs::path& folder) {
  try {
    return finish_model(scene::SceneLoader(folder).load(scene::parse_strict_json(json_text)));
  } catch (const InputError& error) {
    throw in_file(source_name, error);
  }
}

Model load_scene(const fs::path& file) {
  const std::string text = read_text_file(file, kMaxBytes, "a scene file");
  return parse_scene(text, file.string(), file.parent_path());
}

std::string scene_to_json(const Model& model) { return scene::print_json(scene::document_of(model)); }

void save_scene(const Model& model, const fs::path& file) {
  try {
    const std::string text = scene_to_json(model);
    if (text.size() > kMaxBytes) {
      throw InputError("model", fmt::format("its scene file would have {} MB, more than the {} MB that can be loaded; "
                                            "simplify its meshes",
                                            text.size() >> 20, kMaxBytes >> 20));
    }
    write_file_atomically(file, text);
  } catch (const InputError& error) {
    if (error.element() == file.string()) throw;
    throw in_file(file.string(), error);
  }
}

}  // namespace sarrus
