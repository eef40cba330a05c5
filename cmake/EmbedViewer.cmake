# The files of the viewer as a source of C++: gzipped bytes and SHA-256 of each, the same for the same files.
#
# sarrus_embed_viewer(<folder with the files> <source that is written>)
function(sarrus_embed_viewer dist output)
  set(work ${CMAKE_CURRENT_BINARY_DIR}/viewer)
  file(MAKE_DIRECTORY ${work})
  set(arrays "")
  set(table "")
  foreach(name page.html style.css vendor.js app.js load.js LICENSES.txt)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${dist}/${name})
    file(SHA256 ${dist}/${name} sha256)
    string(MAKE_C_IDENTIFIER ${name} id)
    set(bytes ${work}/${id}.${sha256}.txt)  # of an earlier configuration, or made now
    if(NOT EXISTS ${bytes})
      file(ARCHIVE_CREATE OUTPUT ${work}/${id}.gz PATHS ${dist}/${name} FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
      file(READ ${work}/${id}.gz hex HEX)
      string(SUBSTRING ${hex} 0 8 begin)  # then the time stamp
      string(SUBSTRING ${hex} 16 -1 end)
      set(hex ${begin}00000000${end})
      string(REGEX REPLACE "(..)" "0x\\1," hex ${hex})
      string(REGEX REPLACE "(................................................................................)" "\\1\n"
             hex ${hex})
      file(WRITE ${bytes} ${hex})
    endif()
    file(READ ${bytes} hex)
    string(APPEND arrays "constexpr unsigned char ${id}[] = {\n${hex}};\n")
    string(APPEND table "    {\"${name}\", text_of(${id}), \"${sha256}\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[
// Made by CMake (cmake/EmbedViewer.cmake) of viewer/dist.
#include "sarrus/view/viewer_files.h"

namespace sarrus::view {
namespace {

@arrays@
template <std::size_t N>
std::string_view text_of(const unsigned char (&bytes)[N]) {
  return {reinterpret_cast<const char*>(bytes), N};
}

}  // namespace

std::span<const ViewerFile> viewer_files() {
  static const ViewerFile files[] = {
@table@  };
  return files;
}

}  // namespace sarrus::view
]])
endfunction()
