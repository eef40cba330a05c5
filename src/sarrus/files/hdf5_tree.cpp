#include "sarrus/files/hdf5_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "sarrus/files/hdf5_bytes.h"
#include "sarrus/files/hdf5_chunks.h"

namespace sarrus::hdf5 {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
constexpr std::size_t kMaxMessages = 4096;  // of an object
constexpr std::size_t kMaxLinks = 4096;     // of a group
constexpr std::size_t kMaxName = 1024;      // of a link
constexpr int kMaxRank = 32;
constexpr int kMaxFilters = 8;
constexpr std::uint32_t kReference = 16;  // bytes of a reference to text: length, address of a heap, number in it

constexpr const char* kNewer =
    "is stored in HDF5's newest layout, which is not read here; convert the file with h5repack";

enum Message : std::uint8_t {
  dataspace = 0x01,
  link_info = 0x02,
  datatype = 0x03,
  fill_value = 0x05,
  link = 0x06,
  external_files = 0x07,
  layout = 0x08,
  filters = 0x0b,
  attribute = 0x0c,
  continuation = 0x10,
  symbol_table = 0x11,
};

std::uint64_t padded(std::uint64_t n) { return (n + 7) / 8 * 8; }

// Rank and sizes; returns the number of elements.
std::uint64_t read_space(Bytes in, std::vector<std::uint64_t>& shape) {
  const int version = in.u8();
  const int rank = in.u8();
  in.skip(1);
  const int type = version == 2 ? in.u8() : 1;
  if (version == 1) in.skip(5);
  if (version < 1 || version > 2 || rank > kMaxRank) throw BadTree("has a damaged size");
  shape.clear();
  if (type == 2) return 0;
  std::uint64_t count = 1;
  for (int i = 0; i < rank; ++i) {
    shape.push_back(in.u64());
    if (__builtin_mul_overflow(count, shape.back(), &count))
      throw BadTree("claims more numbers than the file can hold");
  }
  return count;
}

Tree::Type read_type(Bytes in) {
  Tree::Type type;
  const int kind = in.u8() & 0x0f;
  const std::uint32_t bits = in.u8();
  in.skip(2);
  type.size = in.u32();
  type.big_endian = (bits & 1) != 0;
  if (kind == 0) {
    type.is_signed = (bits & 8) != 0;
    const bool whole = in.u16() == 0 && static_cast<std::uint32_t>(in.u16()) == 8 * type.size;
    const bool known = type.size == 1 || type.size == 2 || type.size == 4 || type.size == 8;
    if (whole && known) type.kind = Tree::Kind::integer;
  } else if (kind == 1) {
    in.skip(4);
    const std::uint32_t fields = in.u32();  // where exponent and mantissa are
    const std::uint32_t bias = in.u32();
    const bool binary32 = type.size == 4 && fields == 0x17000817 && bias == 127;
    const bool binary64 = type.size == 8 && fields == 0x34000b34 && bias == 1023;
    if ((bits & 0x40) == 0 && (binary32 || binary64)) type.kind = Tree::Kind::real;
  } else if (kind == 3) {
    type.big_endian = false;
    if (type.size > 0) type.kind = Tree::Kind::text;
  } else if (kind == 9) {
    type.big_endian = false;
    if ((bits & 0x0f) == 1 && type.size == kReference) type.kind = Tree::Kind::strings;
  }
  return type;
}

void read_filters(Bytes in, Tree::Dataset& d) {
  const int version = in.u8();
  const int count = in.u8();
  if (version < 1 || version > 2 || count > kMaxFilters) throw BadTree("has damaged filters");
  if (version == 1) in.skip(6);
  for (int i = 0; i < count; ++i) {
    Tree::Filter f;
    f.id = in.u16();
    const std::uint64_t name = version == 1 || f.id >= 256 ? in.u16() : 0;
    in.skip(2);
    const int values = in.u16();
    in.skip(version == 1 ? padded(name) : name);
    for (int k = 0; k < values; ++k) {
      const std::uint32_t value = in.u32();
      if (k == 0) f.element = value;
    }
    if (version == 1 && values % 2 == 1) in.skip(4);
    if (f.id < 1 || f.id > 3) d.unreadable = "is compressed by a filter other than deflate";
    d.filters.push_back(f);
  }
}

void read_layout(Bytes in, Tree::Dataset& d) {
  const int version = in.u8();
  if (version < 1 || version > 4) throw BadTree("has a damaged layout");
  int rank = version < 3 ? in.u8() : 0;
  const int kind = in.u8();
  if (version < 3) in.skip(5);
  if (kind == 3) {
    d.unreadable = "is a virtual data set, whose numbers are in other files";
  } else if (kind == 2 && version == 4) {
    d.unreadable = kNewer;
  } else if (kind == 2) {
    if (version == 3) rank = in.u8();
    d.layout = Tree::Layout::chunked;
    d.index = in.u64();
    if (rank < 2 || rank > kMaxRank + 1) throw BadTree("has a damaged layout");
    for (int i = 0; i + 1 < rank; ++i) d.chunk.push_back(in.u32());
  } else if (kind == 1) {
    d.layout = Tree::Layout::contiguous;
    d.index = in.u64();
  } else if (kind == 0) {
    d.layout = Tree::Layout::contiguous;
    for (int i = 0; i < rank; ++i) in.skip(4);
    d.stored = in.take(version < 3 ? in.u32() : in.u16());
  } else {
    throw BadTree("has a damaged layout");
  }
}

// Whether what was never written counts as anything but zero.
bool fills(Bytes in) {
  const int version = in.u8();
  bool has_value = true;
  if (version == 3) {
    has_value = (in.u8() & 0x20) != 0;
  } else {
    in.skip(2);
    has_value = in.u8() != 0;
  }
  if (!has_value) return false;
  const std::string_view value = in.take(in.u32());
  return value.find_first_not_of('\0') != std::string_view::npos;
}

Tree::Attribute read_attribute(Bytes in) {
  const int version = in.u8();
  const int flags = in.u8();
  const std::uint64_t name = in.u16();
  const std::uint64_t type = in.u16();
  const std::uint64_t space = in.u16();
  if (version < 1 || version > 3) throw BadTree("has a damaged attribute");
  if (version == 3) in.skip(1);
  const auto part = [&](std::uint64_t size) {
    const std::string_view text = in.take(size);
    if (version == 1) in.skip(padded(size) - size);
    return text;
  };
  Tree::Attribute a;
  a.name = std::string(until_zero(part(name)));
  const std::string_view type_bytes = part(type);
  const std::string_view space_bytes = part(space);
  if (version > 1 && flags != 0) return a;  // of a type that is shared: of kind other
  a.type = read_type(Bytes(type_bytes));
  std::vector<std::uint64_t> shape;
  a.count = read_space(Bytes(space_bytes), shape);
  std::uint64_t size = 0;
  if (__builtin_mul_overflow(a.count, a.type.size, &size)) throw BadTree("has a damaged attribute");
  if (a.type.kind != Tree::Kind::other) a.data = in.take(size);
  return a;
}

void read_link(Bytes in, std::vector<Tree::Link>& links) {
  if (in.u8() != 1) throw BadTree("has a damaged link");
  const int flags = in.u8();
  const int kind = (flags & 8) != 0 ? in.u8() : 0;
  if ((flags & 4) != 0) in.skip(8);
  if ((flags & 16) != 0) in.skip(1);
  const std::uint64_t length = in.sized(1 << (flags & 3));
  Tree::Link l;
  l.name = std::string(in.take(length));
  l.hard = kind == 0;
  if (l.hard) l.address = in.u64();
  links.push_back(std::move(l));
}

// Entries of a group of the first format: a B-tree of nodes, whose names are in a heap.
class SymbolTable {
 public:
  SymbolTable(std::string_view file, std::uint64_t heap, std::vector<Tree::Link>& links) : file_(file), links_(links) {
    Bytes in = at(file_, heap);
    if (in.take(4) != "HEAP") throw BadTree("has a damaged group");
    in.skip(4);
    const std::uint64_t size = in.u64();
    in.skip(8);
    names_ = at(file_, in.u64()).take(size);
  }

  void read(std::uint64_t address, int level) {
    if (++nodes_ > kMaxLinks) throw BadTree("has a damaged group");
    Bytes in = at(file_, address);
    if (in.take(4) != "TREE" || in.u8() != 0) throw BadTree("has a damaged group");
    const int here = in.u8();
    if (level >= 0 && here != level) throw BadTree("has a damaged group");
    const int entries = in.u16();
    in.skip(16);
    for (int i = 0; i < entries; ++i) {
      in.skip(8);
      const std::uint64_t child = in.u64();
      if (here > 0) {
        read(child, here - 1);
      } else {
        read_node(child);
      }
    }
  }

 private:
  void read_node(std::uint64_t address) {
    if (++nodes_ > kMaxLinks) throw BadTree("has a damaged group");
    Bytes in = at(file_, address);
    if (in.take(4) != "SNOD") throw BadTree("has a damaged group");
    in.skip(2);
    const int entries = in.u16();
    for (int i = 0; i < entries; ++i) {
      const std::uint64_t name = in.u64();
      Tree::Link l;
      l.address = in.u64();
      l.hard = in.u32() != 2;
      in.skip(20);
      if (name >= names_.size()) throw BadTree("has a damaged group");
      l.name = std::string(until_zero(names_.substr(name, kMaxName)));
      links_.push_back(std::move(l));
      if (links_.size() > kMaxLinks) throw BadTree(fmt::format("has more than {} entries", kMaxLinks));
    }
  }

  std::string_view file_;
  std::string_view names_;
  std::vector<Tree::Link>& links_;
  std::size_t nodes_ = 0;
};

// The messages of an object header, one after another, with those that continue elsewhere.
class ObjectReader {
 public:
  explicit ObjectReader(std::string_view file) : file_(file) {}

  Tree::Object read(std::uint64_t address) {
    Bytes in = at(file_, address);
    if (in.peek(4) == "OHDR") {
      in.skip(4);
      if (in.u8() != 2) throw BadTree("has a damaged header");
      flags_ = in.u8();
      if ((flags_ & 0x20) != 0) in.skip(16);
      if ((flags_ & 0x10) != 0) in.skip(4);
      version_ = 2;
      const std::uint64_t size = in.sized(1 << (flags_ & 3));
      messages(Bytes(in.take(size)));
    } else {
      if (in.u8() != 1) throw BadTree("has a damaged header");
      in.skip(7);
      const std::uint64_t size = in.u32();
      in.skip(4);
      messages(Bytes(in.take(size)));
    }
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      Bytes block(at(file_, blocks_[i].first).take(blocks_[i].second));
      if (version_ == 2) {
        if (block.take(4) != "OCHK" || block.size() < 4) throw BadTree("has a damaged header");
        block = Bytes(block.take(block.size() - 4));
      }
      messages(block);
    }
    finish();
    return std::move(out_);
  }

 private:
  void messages(Bytes in) {
    const std::uint64_t header = version_ == 1 ? 8 : (flags_ & 4) != 0 ? 6 : 4;
    while (in.size() >= header) {
      if (++count_ > kMaxMessages) throw BadTree("has a damaged header");
      const int type = version_ == 1 ? in.u16() : in.u8();
      const std::uint64_t size = in.u16();
      const bool shared = (in.u8() & 2) != 0;
      in.skip(version_ == 1 ? 3 : header - 4);
      const Bytes content(in.take(size));
      if (shared) {
        if (type == dataspace || type == datatype) shared_ = true;
        continue;
      }
      message(type, content);
    }
  }

  void message(int type, Bytes in) {
    Tree::Dataset& d = out_.dataset;
    if (type == dataspace) {
      d.count = read_space(in, d.shape);
    } else if (type == datatype) {
      d.type = read_type(in);
    } else if (type == layout) {
      out_.is_dataset = true;
      read_layout(in, d);
    } else if (type == fill_value) {
      fills_ = fills(in);
    } else if (type == filters) {
      read_filters(in, d);
    } else if (type == external_files) {
      external_ = true;
    } else if (type == attribute) {
      out_.attributes.push_back(read_attribute(in));
    } else if (type == link) {
      read_link(in, out_.links);
    } else if (type == link_info) {
      in.skip(1);
      if ((in.u8() & 1) != 0) in.skip(8);
      if (in.u64() != kNowhere) throw BadTree(kNewer);
    } else if (type == symbol_table) {
      if (std::exchange(has_table_, true)) throw BadTree("has a damaged group");
      const std::uint64_t tree = in.u64();
      SymbolTable(file_, in.u64(), out_.links).read(tree, -1);
    } else if (type == continuation) {
      const std::uint64_t address = in.u64();
      blocks_.emplace_back(address, in.u64());
    }
  }

  void finish() {
    Tree::Dataset& d = out_.dataset;
    if (shared_) d.type.kind = Tree::Kind::other;
    std::uint64_t size = 0;
    if (__builtin_mul_overflow(d.count, d.type.size, &size))
      throw BadTree("claims more numbers than the file can hold");
    if (external_) d.unreadable = "keeps its numbers in another file";
    if (d.layout == Tree::Layout::contiguous && d.index == kNowhere) {
      if (fills_ && d.unreadable.empty()) d.unreadable = "was never written";
    } else if (d.layout == Tree::Layout::contiguous && d.unreadable.empty()) {
      if (d.stored.empty() && size > 0) d.stored = at(file_, d.index).take(size);
      if (d.stored.size() < size) throw BadTree("is cut off");
      d.stored = d.stored.substr(0, size);
    }
    if (d.layout == Tree::Layout::chunked && d.chunk.size() != d.shape.size()) throw BadTree("has a damaged layout");
  }

  std::string_view file_;
  int version_ = 1;
  int flags_ = 0;
  std::size_t count_ = 0;
  bool shared_ = false;
  bool external_ = false;
  bool has_table_ = false;
  bool fills_ = false;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks_;
  Tree::Object out_;
};

// Text of variable length, which is in heaps that several strings share.
class Heaps {
 public:
  explicit Heaps(std::string_view file) : file_(file) {}

  std::string_view object(std::uint64_t address, std::uint32_t number) {
    auto [heap, is_new] = heaps_.try_emplace(address);
    if (is_new) heap->second = read(address);
    const auto found = heap->second.find(number);
    if (found == heap->second.end()) throw BadTree("has a text that is nowhere");
    return found->second;
  }

 private:
  using Heap = std::unordered_map<std::uint32_t, std::string_view>;
  Heap read(std::uint64_t address) {
    Bytes in = at(file_, address);
    if (in.take(4) != "GCOL" || in.u8() != 1) throw BadTree("has a damaged heap of texts");
    in.skip(3);
    const std::uint64_t size = in.u64();
    if (size < 16) throw BadTree("has a damaged heap of texts");
    Bytes rest(in.take(size - 16));
    Heap heap;
    while (rest.size() >= 16) {
      // Heaps do not overlap: all of them have no more objects than the file has room for.
      if (++objects_ > file_.size() / 16) throw BadTree("has a damaged heap of texts");
      const auto number = static_cast<std::uint32_t>(rest.u16());
      rest.skip(6);
      const std::uint64_t length = rest.u64();
      if (number == 0) break;  // the free room at the end
      heap[number] = rest.take(length);
      rest.skip(std::min(padded(length) - length, rest.size()));
    }
    return heap;
  }

  std::string_view file_;
  std::unordered_map<std::uint64_t, Heap> heaps_;
  std::uint64_t objects_ = 0;
};

}  // namespace

Tree::Tree(std::string_view bytes) : bytes_(bytes) {
  Bytes in(bytes);
  if (in.take(8) != kSignature) throw BadTree("is not an HDF5 file");
  const int version = in.u8();
  if (version > 3) throw BadTree("has a superblock of an unknown version");
  if (version < 2) in.skip(4);
  const int offsets = in.u8();
  const int lengths = in.u8();
  in.skip(version < 2 ? 9 : 1);
  if (version == 1) in.skip(4);
  if (offsets != 8 || lengths != 8) throw BadTree("has addresses of another size than 8 bytes");
  if (in.u64() != 0) throw BadTree("does not begin at its first byte");
  in.skip(8);
  if (in.u64() > bytes.size()) throw BadTree("is cut off");
  if (version < 2) in.skip(16);
  root_ = in.u64();
}

Tree::Object Tree::object_at(std::uint64_t address) const { return ObjectReader(bytes_).read(address); }

bool Tree::find(std::string_view path, Object& object) const {
  object = object_at(root_);
  while (!path.empty()) {
    const std::size_t end = path.find('/');
    const std::string_view name = path.substr(0, end);
    path = end == std::string_view::npos ? std::string_view() : path.substr(end + 1);
    if (name.empty()) continue;
    const auto l =
        std::find_if(object.links.begin(), object.links.end(), [&](const Link& x) { return x.name == name; });
    if (l == object.links.end()) return false;
    if (!l->hard) throw BadTree("is a link to another place, which is not followed");
    object = object_at(l->address);
  }
  return true;
}

std::string Tree::data(const Dataset& d, std::uint64_t limit) const {
  if (d.count == 0) return {};
  if (!d.unreadable.empty()) throw BadTree(std::string(d.unreadable));
  if (d.layout == Layout::none) throw BadTree("is not a data set");
  if (d.size() > limit) throw BadTree(fmt::format("claims {} numbers, more than the file can hold", d.count));
  if (d.layout == Layout::contiguous) {
    if (!d.filters.empty()) throw BadTree("has a damaged layout");
    if (d.index == kNowhere) return std::string(d.size(), '\0');
    return std::string(d.stored);
  }
  return ChunkReader(bytes_, d, limit).read();
}

std::vector<std::string> Tree::texts(std::string_view elements, std::uint64_t limit) const {
  Heaps heaps(bytes_);
  std::vector<std::string> out;
  std::uint64_t total = 0;
  Bytes in(elements);
  while (in.size() >= kReference) {
    const std::uint32_t length = in.u32();
    const std::uint64_t address = in.u64();
    const std::uint32_t number = in.u32();
    out.emplace_back();
    if (length == 0) continue;
    const std::string_view text = heaps.object(address, number);
    if (text.size() < length) throw BadTree("has a text that is cut off");
    total += length;
    if (total > limit) throw BadTree("claims more text than the file can hold");
    out.back() = std::string(until_zero(text.substr(0, length)));
  }
  return out;
}

}  // namespace sarrus::hdf5
