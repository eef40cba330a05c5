// Compressed bytes and bytes as text.
#pragma once

#include <string>
#include <string_view>

namespace sarrus::view {

// RFC 1952, without time stamp and name: the same bytes for the same content. Level 6: a better one takes ten times the
// time for a twentieth of the size.
std::string gzip(std::string_view bytes);
// Throws std::runtime_error for what gzip() did not write, or if it is more than `limit` bytes.
std::string gunzip(std::string_view compressed, std::size_t limit);

// RFC 4648, with padding, without line breaks.
std::string base64(std::string_view bytes);

}  // namespace sarrus::view
