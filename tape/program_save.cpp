// Programs written down. The format: docs/program-files.md.
#include <bit>
#include <new>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "tape/program.hpp"
#include "tape/program_format.hpp"
#include "tape/temporary_file.hpp"
#include "wengert/custom.hpp"
#include "wengert/error.hpp"
#include "wengert/serialize.hpp"

namespace wengert {
namespace {

using namespace program_format;

class Writer {
 public:
  template <class Unsigned>
  void put(Unsigned n) {
    for (std::size_t k = 0; k < sizeof n; ++k) bytes_.push_back(static_cast<char>(n >> (8 * k) & 255));
  }
  void text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes_.append(text);
  }
  template <class T>
  void list(const std::vector<T>& items) {
    put(static_cast<std::uint64_t>(items.size()));
    for (const T& item : items) {
      if constexpr (std::is_floating_point_v<T>) put(std::bit_cast<Bits<T>>(item));
      else put(item);
    }
  }
  void append(std::string_view bytes) { bytes_.append(bytes); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

template <class Real>
void write_body(Writer& out, ZeroRule zero_rule, const plan::Source<Real>& source) {
  if (!source.rules.empty())
    throw Error(ErrorCode::unsupported, "a program with the custom op " + source.rules.front()->name +
                                            " can't be saved: a file holds ops of the table, and that one is code");
  // Ops by name: their numbers are those of this version's table.
  std::array<std::uint32_t, op_count> place;
  place.fill(no_id);
  std::vector<std::string_view> names;
  std::vector<std::uint32_t> words = source.words;
  for (std::size_t at = 0; at < words.size();) {
    const Op op = static_cast<Op>(words[at]);
    std::uint32_t& index = place[words[at]];
    if (index == no_id) {
      index = static_cast<std::uint32_t>(names.size());
      names.push_back(name(op));
    }
    const auto [count, first] = operands_at(op, words.data() + at);
    words[at] = index;
    at = static_cast<std::size_t>(first - words.data()) + count;
  }
  out.put(static_cast<std::uint32_t>(zero_rule == ZeroRule::ieee));
  out.put(static_cast<std::uint32_t>(names.size()));
  for (std::string_view text : names) out.text(text);
  out.list(source.inputs);
  out.list(source.parameters);
  out.list(source.constants);
  out.put(static_cast<std::uint64_t>(source.ops));
  out.list(words);
  out.list(source.outputs);
  out.list(source.differentiated);
  out.put(static_cast<std::uint32_t>(source.labels.names().size()));
  for (const detail::Labels::Name& name : source.labels.names()) {
    out.put(name.id);
    out.text(name.text);
  }
  out.put(static_cast<std::uint32_t>(source.labels.stretches().size()));
  for (const detail::Labels::Stretch& scope : source.labels.stretches()) {
    for (const std::uint32_t n : {scope.begin, scope.end, scope.parent}) out.put(n);
    out.text(scope.text);
  }
  out.put(static_cast<std::uint32_t>(source.files.size()));
  for (const std::string& file : source.files) out.text(file);
  out.put(static_cast<std::uint64_t>(source.guards.size()));
  for (const auto& guard : source.guards) {
    out.put(guard.condition);
    out.put(guard.file);
    out.put(guard.line);
    out.put(static_cast<std::uint32_t>(guard.outcome));
  }
}

template <class Real>
std::string file_of(const plan::ProgramData<Real>& data) try {
  Writer body;
  write_body(body, data.zero_rule, data.source);
  Writer file;
  file.append(magic);
  file.put(newest_version);
  file.put(static_cast<std::uint32_t>(sizeof(Real)));
  file.put(static_cast<std::uint64_t>(body.bytes().size()));
  file.append(body.bytes());
  file.put(checksum(file.bytes()));
  return file.bytes();
} catch (const std::bad_alloc&) {
  throw Error(ErrorCode::out_of_memory,
              "no memory to write down a program of " + std::to_string(data.source.bytes()) + " bytes");
}

}  // namespace

template <class Real>
void Program<Real>::save(std::ostream& stream) const {
  const std::string bytes = file_of(data());
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.flush();
  if (!stream)
    throw Error(ErrorCode::bad_file, "the stream doesn't take a program of " + std::to_string(bytes.size()) + " bytes");
}

template <class Real>
void Program<Real>::save(const std::string& path) const {
  const std::string bytes = file_of(data());
  try {
    if (is_special(path)) return write_special(path, bytes);
    TemporaryFile file(std::filesystem::is_symlink(path) ? std::filesystem::canonical(path)
                                                         : std::filesystem::path(path));
    file.write(bytes);
    file.finish();
    file.become();
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::bad_file, path + ": can't be written: " + error.code().message());
  }
}

template void Program<double>::save(std::ostream&) const;
template void Program<float>::save(std::ostream&) const;
template void Program<double>::save(const std::string&) const;
template void Program<float>::save(const std::string&) const;

}  // namespace wengert
