// Programs read from files, which may be damaged or hostile. The format: docs/program-files.md.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <istream>
#include <new>
#include <string>
#include <vector>

#include "tape/program.hpp"
#include "tape/program_format.hpp"
#include "wengert/error.hpp"
#include "wengert/serialize.hpp"
#include "wengert/version.hpp"

namespace wengert {
namespace {

using namespace program_format;

[[noreturn]] void bad(const std::string& what) {
  throw Error(ErrorCode::bad_file, "not a usable program file: " + what);
}

std::string number(std::uint64_t n) { return std::to_string(n); }

/// Takes a file apart. What it allocates is never more than what is there to be read.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::size_t left() const { return bytes_.size(); }
  std::string_view take(std::uint64_t count, const char* what) {
    if (count > bytes_.size())
      bad(std::string(what) + " would take " + number(count) + " bytes, but only " + number(bytes_.size()) +
          " are left");
    const std::string_view taken = bytes_.substr(0, static_cast<std::size_t>(count));
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  template <class Unsigned>
  Unsigned get(const char* what) {
    Unsigned n = 0;
    const std::string_view bytes = take(sizeof n, what);
    for (std::size_t k = 0; k < sizeof n; ++k)
      n |= static_cast<Unsigned>(static_cast<Unsigned>(static_cast<unsigned char>(bytes[k])) << (8 * k));
    return n;
  }
  template <class T>
  std::vector<T> list(const char* what) {
    const std::uint64_t count = get<std::uint64_t>(what);
    if (count > left() / sizeof(T))
      bad(std::string(what) + ": " + number(count) + " of them are more than the file has");
    std::vector<T> items(static_cast<std::size_t>(count));
    for (T& item : items) {
      if constexpr (std::is_floating_point_v<T>) item = std::bit_cast<T>(get<Bits<T>>(what));
      else item = get<T>(what);
    }
    return items;
  }

 private:
  std::string_view bytes_;
};

// ---- what a program is compiled from ----

template <class Real>
struct Saved {
  ZeroRule zero_rule = ZeroRule::exact;
  plan::Source<Real> source;
};

std::vector<Op> read_names(Reader& in) {
  const std::uint32_t count = in.get<std::uint32_t>("the number of op names");
  if (count > in.left()) bad(number(count) + " op names are more than the file has");
  std::vector<Op> ops;
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::string_view text = in.take(in.get<std::uint32_t>("the length of an op's name"), "an op's name");
    std::size_t op = 0;
    while (op < op_count && text != name(static_cast<Op>(op))) ++op;
    if (op == op_count)
      bad("it has an op '" + std::string(text.substr(0, 40)) +
          "', which this version of the library (" WENGERT_VERSION ") doesn't know");
    ops.push_back(static_cast<Op>(op));
  }
  return ops;
}

template <class Real>
void read_guards(Reader& in, plan::Source<Real>& source, std::uint64_t variables) {
  const std::uint32_t files = in.get<std::uint32_t>("the number of source files");
  if (files > in.left() / 4) bad(number(files) + " source files are more than the file has");
  for (std::uint32_t k = 0; k < files; ++k)
    source.files.emplace_back(in.take(in.get<std::uint32_t>("the length of a name"), "the name of a source file"));
  const std::uint64_t guards = in.get<std::uint64_t>("the number of guards");
  if (guards > in.left() / 16) bad("guards: " + number(guards) + " of them are more than the file has");
  source.guards.resize(static_cast<std::size_t>(guards));
  for (std::size_t k = 0; k < source.guards.size(); ++k) {
    auto& guard = source.guards[k];
    guard.condition = in.get<std::uint32_t>("a guard");
    guard.file = in.get<std::uint32_t>("a guard");
    guard.line = in.get<std::uint32_t>("a guard");
    const std::uint32_t outcome = in.get<std::uint32_t>("a guard");
    guard.outcome = outcome == 1;
    if (guard.condition >= variables || guard.file >= files || outcome > 1)
      bad("guard " + number(k) + " is on variable " + number(guard.condition) + " of " + number(variables) +
          ", in source file " + number(guard.file) + " of " + number(files) + ", with the outcome " + number(outcome));
  }
}

/// Turns places in the file's list of names into ops of the table, and makes sure that ops only use what is before them.
/// Returns how many variables there are.
template <class Real>
std::uint64_t check_ops(plan::Source<Real>& source, const std::vector<Op>& names) {
  std::vector<std::uint32_t>& words = source.words;
  std::uint64_t variables = source.inputs.size() + source.constants.size();
  std::size_t at = 0, k = 0;
  for (; at < words.size(); ++k) {
    const std::string which = "op " + number(k);
    if (words[at] >= names.size())
      bad(which + " is number " + number(words[at]) + " of a list of " + number(names.size()) + " ops");
    const Op op = names[words[at]];
    words[at] = static_cast<std::uint32_t>(op);
    const std::size_t left = words.size() - at;
    if (left < 2) bad(which + " (" + name(op) + ") has no operands");
    const auto [count, first] = operands_at(op, words.data() + at);
    const std::size_t before = static_cast<std::size_t>(first - words.data()) - at;
    if (count > left - before)
      bad(which + " (" + name(op) + ") has " + number(count) + " operands, of which " + number(left - before) +
          " are in the file");
    const std::uint32_t outputs = info(op).outputs(static_cast<std::uint32_t>(count));
    if (outputs == 0) bad(which + ": " + name(op) + " doesn't take " + number(count) + " operands");
    for (std::size_t i = 0; i < count; ++i)
      if (first[i] >= variables)
        bad(which + " (" + name(op) + ") uses variable " + number(first[i]) + ", but only " + number(variables) +
            " come before it");
    variables += outputs;
    at += before + count;
  }
  if (k != source.ops) bad("it says to have " + number(source.ops) + " ops, and has " + number(k));
  return variables;
}

detail::Labels read_labels(Reader& in, std::uint64_t variables) {
  const auto text = [&] { return std::string(in.take(in.get<std::uint32_t>("the length of a label"), "a label")); };
  const auto count = [&](const char* what) {
    const std::uint32_t n = in.get<std::uint32_t>(what);
    if (n > in.left()) bad(number(n) + " labels or scopes are more than the file has");
    return n;
  };
  std::vector<detail::Labels::Name> names;
  for (std::uint32_t left = count("the number of labels"); left != 0; --left) {
    const Id id = in.get<Id>("a label");
    if (id >= variables || (!names.empty() && id <= names.back().id))
      bad("a label is of variable " + number(id) + ", which is out of order or of range");
    names.push_back({id, text()});
  }
  std::vector<detail::Labels::Stretch> scopes;
  for (std::uint32_t left = count("the number of scopes"); left != 0; --left) {
    const Id begin = in.get<Id>("a scope"), end = in.get<Id>("a scope");
    const std::uint32_t parent = in.get<std::uint32_t>("a scope");
    if (begin > end || end > variables || (!scopes.empty() && begin < scopes.back().begin) ||
        (parent != no_id && parent >= scopes.size()))
      bad("scope " + number(scopes.size()) + " from variable " + number(begin) + " to " + number(end) +
          " within scope " + number(parent) + " is out of order or of range");
    scopes.push_back({begin, end, parent, text()});
  }
  return {std::move(names), std::move(scopes)};
}

template <class Real>
Saved<Real> read_body(std::string_view body) {
  Reader in(body);
  Saved<Real> saved;
  plan::Source<Real>& source = saved.source;
  const std::uint32_t zero_rule = in.get<std::uint32_t>("the zero rule");
  if (zero_rule > 1) bad("there is no zero rule " + number(zero_rule));
  saved.zero_rule = zero_rule == 1 ? ZeroRule::ieee : ZeroRule::exact;
  const std::vector<Op> names = read_names(in);
  source.inputs = in.list<Real>("the inputs");
  source.parameters = in.list<std::uint32_t>("the parameters");
  for (std::size_t k = 0; k < source.parameters.size(); ++k)
    if (source.parameters[k] >= source.inputs.size() || (k > 0 && source.parameters[k] <= source.parameters[k - 1]))
      bad("parameter " + number(k) + " is input " + number(source.parameters[k]) +
          ", which is out of order or of range");
  source.constants = in.list<Real>("the constants");
  source.ops = static_cast<std::size_t>(in.get<std::uint64_t>("the number of ops"));
  source.words = in.list<std::uint32_t>("the ops");
  const std::uint64_t variables = check_ops(source, names);
  source.outputs = in.list<Id>("the outputs");
  source.differentiated = in.list<Id>("the differentiated inputs");
  for (Id id : source.outputs)
    if (id >= variables) bad("an output is variable " + number(id) + " of " + number(variables));
  source.labels = read_labels(in, variables);
  read_guards(in, source, variables);
  if (in.left() != 0) bad(number(in.left()) + " bytes are left over at its end");
  return saved;
}

// ---- the file around it ----

struct Header {
  std::uint32_t real_bytes;
  std::uint64_t body;
};

Header read_header(std::string_view bytes) {
  Reader in(bytes);
  if (bytes.substr(0, magic.size()) != magic.substr(0, bytes.size()) || bytes.empty())
    bad(bytes.empty() ? "it is empty" : "it doesn't begin as one");
  if (bytes.size() < header_bytes) bad("it ends after " + number(bytes.size()) + " bytes, within its header");
  in.take(magic.size(), "the signature");
  const std::uint32_t version = in.get<std::uint32_t>("the version");
  if (version == 0 || version > newest_version)
    bad("its format is version " + number(version) +
        ", and this version of the library (" WENGERT_VERSION ") reads up to " + number(newest_version) +
        (version == 0 ? "" : "; a newer one will do"));
  Header header;
  header.real_bytes = in.get<std::uint32_t>("the precision");
  if (header.real_bytes != 4 && header.real_bytes != 8)
    bad("its numbers have " + number(header.real_bytes) + " bytes; 4 (float) and 8 (double) are known");
  header.body = in.get<std::uint64_t>("the length");
  return header;
}

template <class Real>
Program<Real> parse(std::string_view file) {
  const Header header = read_header(file);
  if (header.real_bytes != sizeof(Real))
    bad(header.real_bytes == 8 ? "its numbers are double; use load_program<double>"
                               : "its numbers are float; use load_program<float>");
  const std::size_t after = file.size() - header_bytes;
  if (after < checksum_bytes || header.body > after - checksum_bytes)
    bad("it ends after " + number(file.size()) + " bytes; its header promises " + number(header.body) + " and " +
        number(header_bytes + checksum_bytes) + " around them");
  if (header.body < after - checksum_bytes) bad(number(after - checksum_bytes - header.body) + " bytes follow its end");
  const std::size_t length = header_bytes + static_cast<std::size_t>(header.body);
  if (Reader(file.substr(length)).get<std::uint64_t>("the checksum") != checksum(file.substr(0, length)))
    bad("its checksum is wrong: it was altered after it was written");
  try {
    const Saved<Real> saved = read_body<Real>(file.substr(header_bytes, length - header_bytes));
    const NaiveTape<Real> tape = plan::record(saved.source, saved.zero_rule);
    return compile(tape, std::span<const Id>(saved.source.outputs), CompileOptions{saved.source.differentiated});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::bad_file || error.code() == ErrorCode::out_of_memory) throw;
    bad(error.what());  // what no tape would have compiled to
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "loading a program file of " + number(file.size()) +
                                              " bytes takes about 30 times that, which can't be had");
  }
}

/// Reads as much as the header says, in pieces: what is allocated is in proportion to what has arrived.
std::string read_file(std::istream& stream) {
  std::string bytes;
  const auto more = [&](std::uint64_t count) {
    constexpr std::size_t piece = std::size_t(1) << 20;
    while (count != 0 && stream) {
      const std::size_t before = bytes.size(), now = static_cast<std::size_t>(std::min<std::uint64_t>(count, piece));
      bytes.resize(before + now);
      stream.read(bytes.data() + before, static_cast<std::streamsize>(now));
      bytes.resize(before + static_cast<std::size_t>(stream.gcount()));
      count -= now;
    }
  };
  try {
    more(header_bytes);
    const Header header = read_header(bytes);
    more(header.body);
    more(checksum_bytes);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory,
                "no memory for more than the first " + number(bytes.size()) + " bytes of a program file");
  }
  return bytes;
}

/// Calls read(stream) on a file, and puts its name before whatever is wrong with it.
template <class Read>
auto from_file(const std::string& path, Read read) {
  try {
    errno = 0;
    std::ifstream stream(path, std::ios::binary);
    stream.peek();  // a folder opens, but can't be read
    if (stream.bad() || !stream.is_open())
      throw Error(ErrorCode::bad_file, std::string("can't be read: ") + std::strerror(errno != 0 ? errno : EIO));
    stream.clear();
    return read(stream);
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
}

}  // namespace

template <class Real>
Program<Real> load_program(std::span<const std::byte> bytes) {
  return parse<Real>({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

template <class Real>
Program<Real> load_program(std::istream& stream) {
  return parse<Real>(read_file(stream));
}

template <class Real>
Program<Real> load_program(const std::string& path) {
  return from_file(path, [](std::istream& stream) {
    const std::string bytes = read_file(stream);
    if (stream && stream.peek() != std::char_traits<char>::eof()) bad("more bytes follow its end");
    return parse<Real>(bytes);
  });
}

std::size_t saved_precision(const std::string& path) {
  return from_file(path, [](std::istream& stream) {
    std::string bytes(header_bytes, '\0');
    stream.read(bytes.data(), header_bytes);
    bytes.resize(static_cast<std::size_t>(stream.gcount()));
    return static_cast<std::size_t>(read_header(bytes).real_bytes);
  });
}

template Program<double> load_program(std::span<const std::byte>);
template Program<float> load_program(std::span<const std::byte>);
template Program<double> load_program(std::istream&);
template Program<float> load_program(std::istream&);
template Program<double> load_program(const std::string&);
template Program<float> load_program(const std::string&);

}  // namespace wengert
