#include "sarrus/files/hdf5_chunks.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "sarrus/files/hdf5_bytes.h"

namespace sarrus::hdf5 {
namespace {

constexpr const char* kDamaged = "has damaged chunks";

void inflate_exactly(std::string_view in, std::string& out) {
  uLongf size = out.size();
  const int status =
      ::uncompress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(in.data()), in.size());
  if (status != Z_OK || size != out.size()) throw BadTree(kDamaged);
}

// Undoes HDF5's shuffle, which stores the first bytes of all elements, then the second ones, and so on.
void unshuffle(std::string& bytes, std::uint64_t element) {
  if (element <= 1 || bytes.size() < element) return;
  const std::string in = bytes;
  const std::uint64_t count = in.size() / element;
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::uint64_t k = 0; k < element; ++k) bytes[i * element + k] = in[k * count + i];
  }
}

}  // namespace

ChunkReader::ChunkReader(std::string_view file, const Tree::Dataset& dataset, std::uint64_t limit)
    : file_(file), dataset_(dataset), chunk_bytes_(dataset.type.size) {
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < dataset.chunk.size(); ++i) {
    const std::uint64_t side = dataset.chunk[i];
    if (side == 0 || __builtin_mul_overflow(chunk_bytes_, side, &chunk_bytes_) || chunk_bytes_ > limit) {
      throw BadTree("has chunks larger than the file can hold");
    }
    count *= (dataset.shape[i] - 1) / side + 1;  // at most the number of elements
  }
  std::uint64_t total = 0;
  if (__builtin_mul_overflow(count, chunk_bytes_, &total) || total / 4 > limit) {
    throw BadTree("has chunks larger than the file can hold");
  }
  seen_.assign(count, false);
  missing_ = count;
}

std::string ChunkReader::read() {
  out_.assign(dataset_.size(), '\0');
  if (dataset_.index != kNowhere) read_node(dataset_.index, -1);
  if (missing_ > 0) throw BadTree("was not written completely");
  return std::move(out_);
}

void ChunkReader::read_node(std::uint64_t address, int level) {
  // A node has an entry, and an entry a chunk: more nodes than that are none that was written.
  if (++nodes_ > 64 + 2 * seen_.size()) throw BadTree(kDamaged);
  Bytes in = at(file_, address);
  if (in.take(4) != "TREE" || in.u8() != 1) throw BadTree(kDamaged);
  const int here = in.u8();
  if (level >= 0 && here != level) throw BadTree(kDamaged);
  const int entries = in.u16();
  in.skip(16);
  std::vector<std::uint64_t> offset(dataset_.shape.size());
  for (int i = 0; i < entries; ++i) {
    const std::uint64_t size = in.u32();
    const std::uint32_t mask = in.u32();
    for (std::uint64_t& o : offset) o = in.u64();
    in.skip(8);
    const std::uint64_t child = in.u64();
    if (here > 0) {
      read_node(child, here - 1);
    } else {
      read_chunk(at(file_, child).take(size), mask, offset);
    }
  }
}

void ChunkReader::read_chunk(std::string_view stored, std::uint32_t skipped_filters,
                             const std::vector<std::uint64_t>& offset) {
  std::uint64_t index = 0;
  for (std::size_t i = 0; i < offset.size(); ++i) {
    const std::uint64_t side = dataset_.chunk[i];
    if (offset[i] % side != 0) throw BadTree(kDamaged);
    // Chunks beyond the end stay behind when a data set shrinks.
    if (offset[i] >= dataset_.shape[i]) return;
    index = index * ((dataset_.shape[i] - 1) / side + 1) + offset[i] / side;
  }
  if (seen_[index]) throw BadTree(kDamaged);
  seen_[index] = true;
  --missing_;
  place(unfiltered(stored, skipped_filters), offset);
}

std::string ChunkReader::unfiltered(std::string_view stored, std::uint32_t skipped_filters) const {
  std::string bytes(stored);
  for (std::size_t i = dataset_.filters.size(); i-- > 0;) {
    if ((skipped_filters >> i & 1) != 0) continue;
    const Tree::Filter& f = dataset_.filters[i];
    if (f.id == 1) {
      const bool sums_inside = std::any_of(dataset_.filters.begin(), dataset_.filters.begin() + static_cast<long>(i),
                                           [](const Tree::Filter& inner) { return inner.id == 3; });
      std::string plain(chunk_bytes_ + (sums_inside ? 4 : 0), '\0');
      inflate_exactly(bytes, plain);
      bytes = std::move(plain);
    } else if (f.id == 2) {
      unshuffle(bytes, f.element);
    } else if (bytes.size() >= 4) {
      bytes.resize(bytes.size() - 4);  // a checksum
    }
  }
  if (bytes.size() != chunk_bytes_) throw BadTree(kDamaged);
  return bytes;
}

// Copies the rows of a chunk that are inside of the data set.
void ChunkReader::place(const std::string& chunk, const std::vector<std::uint64_t>& offset) {
  const std::size_t rank = offset.size();
  const std::uint64_t element = dataset_.type.size;
  const std::uint64_t run = std::min(dataset_.chunk[rank - 1], dataset_.shape[rank - 1] - offset[rank - 1]) * element;
  std::vector<std::uint64_t> at_row(rank, 0);
  while (true) {
    std::uint64_t to = 0, from = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      to = to * dataset_.shape[i] + offset[i] + at_row[i];
      from = from * dataset_.chunk[i] + at_row[i];
    }
    std::memcpy(out_.data() + to * element, chunk.data() + from * element, run);
    std::size_t i = rank - 1;
    while (i-- > 0) {
      if (++at_row[i] < dataset_.chunk[i] && offset[i] + at_row[i] < dataset_.shape[i]) break;
      at_row[i] = 0;
    }
    if (i == static_cast<std::size_t>(-1)) return;
  }
}

}  // namespace sarrus::hdf5
