// The content of an HDF5 file, read without the HDF5 library, which does not survive damaged files: zeroed bytes make
// it read out of bounds, and it follows links and raw data into other files. Here every number is checked against the
// bytes of the file before it is used, and no other file is ever opened.
//
// Read is what HDF5 writes by default, its own versions and h5py: superblocks 0 to 3, object headers 1 and 2, groups as
// symbol tables or compact links, data sets compact, contiguous or in chunks under a B-tree (deflate, shuffle,
// Fletcher32), numbers of up to eight bytes, text of fixed and of variable length. Refused by name: links other than
// hard ones, external and virtual storage, and the indices of the "latest" format (h5repack converts them).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sarrus::hdf5 {

// What is wrong with the file, without its name.
class BadTree : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Tree {
 public:
  // strings: references to text of any length, see texts().
  enum class Kind : std::uint8_t { integer, real, text, strings, other };
  struct Type {
    Kind kind = Kind::other;
    std::uint32_t size = 0;  // bytes
    bool is_signed = false;
    bool big_endian = false;
  };
  struct Attribute {
    std::string name;
    Type type;
    std::uint64_t count = 0;
    std::string_view data;
  };
  enum class Layout : std::uint8_t { none, contiguous, chunked };
  struct Filter {
    int id = 0;
    std::uint32_t element = 0;  // bytes, of the shuffle
  };
  struct Dataset {
    Type type;
    std::vector<std::uint64_t> shape;
    std::uint64_t count = 0;
    Layout layout = Layout::none;
    std::string_view stored;                                  // compact and contiguous ones
    std::uint64_t index = 0;                                  // address of the data, or of the B-tree of the chunks
    std::vector<std::uint64_t> chunk;                         // shape of a chunk
    std::vector<Filter> filters;                              // in the order in which they were applied
    std::string_view unreadable;                              // why it cannot be read, empty if it can
    std::uint64_t size() const { return count * type.size; }  // bytes
  };
  struct Link {
    std::string name;
    std::uint64_t address = 0;
    bool hard = true;
  };
  struct Object {
    bool is_dataset = false;
    Dataset dataset;
    std::vector<Link> links;  // of a group
    std::vector<Attribute> attributes;
  };

  // Keeps a view of the bytes. All functions throw BadTree.
  explicit Tree(std::string_view bytes);

  // The object at a path ("/nodes/size"); false if there is none. The root is "/".
  bool find(std::string_view path, Object& object) const;
  Object object_at(std::uint64_t address) const;
  std::uint64_t root() const { return root_; }
  // Elements as stored, row by row. `limit` bounds the bytes that are made of compressed ones.
  std::string data(const Dataset& dataset, std::uint64_t limit) const;
  // What elements of the kind `strings` refer to, of together at most `limit` bytes.
  std::vector<std::string> texts(std::string_view elements, std::uint64_t limit) const;

 private:
  std::string_view bytes_;
  std::uint64_t root_ = 0;
};

}  // namespace sarrus::hdf5
