// Private to this folder: records as JSON tables {"columns": [...], "rows": [[...], ...]}, with one list of fields per
// record type for writing and reading (result.cpp). Infinite and undefined numbers are strings: JSON has none.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "sarrus/math/error.h"

namespace sarrus::bench {

using Json = nlohmann::ordered_json;

inline constexpr std::uintmax_t kMaxFile = std::uintmax_t{1} << 30;  // bytes, of results and lists of samples

inline Json number_json(double v) {
  if (std::isfinite(v)) return v;
  return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
}

inline double number_from(const Json& j) {
  if (j.is_number()) return j.get<double>();
  const std::string text = j.get<std::string>();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw std::invalid_argument(fmt::format("'{}' is not a number", text));
}

template <class E>
E enum_from(const std::string& text, int count) {
  for (int i = 0; i < count; ++i) {
    if (name_of(static_cast<E>(i)) == text) return static_cast<E>(i);
  }
  throw std::invalid_argument(fmt::format("'{}' is not known", text));
}

class RowWriter {
 public:
  RowWriter(Json& columns, Json& row) : columns_(columns), row_(row) {}
  template <class T>
  void operator()(const char* column, T& v, [[maybe_unused]] int enum_count = 0) {
    columns_.push_back(column);
    if constexpr (std::is_enum_v<T>) {
      row_.push_back(std::string(name_of(v)));
    } else if constexpr (std::is_same_v<T, double>) {
      row_.push_back(number_json(v));
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      Json list = Json::array();
      for (const double x : v) list.push_back(number_json(x));
      row_.push_back(list);
    } else {
      row_.push_back(v);
    }
  }

 private:
  Json& columns_;
  Json& row_;
};

class RowReader {
 public:
  RowReader(const std::unordered_map<std::string, std::size_t>& columns, const Json& row)
      : columns_(columns), row_(row) {}
  template <class T>
  void operator()(const char* column, T& v, [[maybe_unused]] int enum_count = 0) {
    const auto found = columns_.find(column);
    if (found == columns_.end()) throw std::invalid_argument(fmt::format("column '{}' is missing", column));
    const Json& cell = row_.at(found->second);
    if constexpr (std::is_enum_v<T>) {
      v = enum_from<T>(cell.get<std::string>(), enum_count);
    } else if constexpr (std::is_same_v<T, double>) {
      v = number_from(cell);
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      v.clear();
      for (const Json& x : cell) v.push_back(number_from(x));
    } else {
      v = cell.get<T>();
    }
  }

 private:
  const std::unordered_map<std::string, std::size_t>& columns_;
  const Json& row_;
};

// `fields(visitor, record)` names the columns of a Record.
template <class Record>
Json table_json(const std::vector<Record>& records) {
  Json columns = Json::array(), rows = Json::array();
  {
    Record empty;
    Json ignored = Json::array();
    RowWriter writer(columns, ignored);
    fields(writer, empty);
  }
  for (Record r : records) {
    Json unused = Json::array(), row = Json::array();
    RowWriter writer(unused, row);
    fields(writer, r);
    rows.push_back(std::move(row));
  }
  return {{"columns", columns}, {"rows", rows}};
}

template <class Record>
std::vector<Record> table_from_json(const Json& json) {
  std::unordered_map<std::string, std::size_t> columns;
  for (const Json& c : json.at("columns")) columns.emplace(c.get<std::string>(), columns.size());
  std::vector<Record> out;
  for (const Json& row : json.at("rows")) {
    RowReader reader(columns, row);
    fields(reader, out.emplace_back());
  }
  return out;
}

}  // namespace sarrus::bench
