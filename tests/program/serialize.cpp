// Saved programs: loaded ones have the same bits, and a file that isn't right is an error that says so.
#include "wengert/serialize.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "kernels/dispatch.hpp"
#include "tests/program/program_file.hpp"
#include "tests/program/random_tape.hpp"
#include "tests/same_bits.hpp"
#include "tests/says.hpp"
#include "tests/soak.hpp"
#include "wengert/replay.hpp"

namespace wengert::test {
namespace {

namespace fs = std::filesystem;

/// bad_file, with a message that has `part` in it.
auto bad_file(const std::string& part) { return says(ErrorCode::bad_file, part); }

/// A folder of this test alone, gone with it.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("wengert-serialize-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

/// softplus((x + y) * x), with a constant and a parameter on top.
Program<double> small_program() {
  NaiveTape<double> tape;
  const Id x = tape.input(1), y = tape.input(2), p = tape.parameter(0.5);
  const auto inner = [&] {
    const Scope scope(tape, "inner");
    return tape.softplus(tape.mul(tape.add(x, y), x));
  };
  const Id f = tape.fma(tape.constant(3), inner(), p);
  tape.label(f, "f");
  tape.label(x, "x");
  return compile(tape, f);
}

template <class Real>
std::vector<Real> results(const Program<Real>& program, std::uint64_t seed) {
  Random random(seed);
  const std::size_t samples = 11, n = program.inputs(), m = program.outputs(), d = program.differentiated();
  std::vector<Real> x(samples * n), w(samples * m), parameters(program.parameters()),
      uniform(program.uniform_outputs()), all(samples * (m + d));
  for (std::vector<Real>* numbers : {&x, &w, &parameters, &uniform})
    for (Real& number : *numbers) number = some_number<Real>(random, 0.05);
  Replay<Real> replay(program, {std::string(name(random.of(usable_isas()))), 1, 0, {}, true});
  if (random.chance(0.5)) replay.set_parameters(parameters);
  replay.vjp(samples, rows(x.data(), n), rows(w.data(), m), rows(all.data(), m), rows(all.data() + samples * m, d),
             uniform);
  all.insert(all.end(), replay.uniform_outputs().begin(), replay.uniform_outputs().end());
  all.insert(all.end(), replay.parameter_gradients().begin(), replay.parameter_gradients().end());
  return all;
}

template <class Real>
void random_programs(std::size_t count) {
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    Random random(seed * 2 + sizeof(Real));
    RandomTape<Real> graph = random_tape<Real>(random, 1 + random.below(80), 0.3, random.chance(0.5));
    if (random.chance(0.3)) graph.outputs.push_back(graph.tape.sum_samples(graph.outputs[0]));
    if (random.chance(0.3)) graph.tape.set_zero_rule(ZeroRule::ieee);
    while (random.chance(0.3)) graph.tape.guard(static_cast<Id>(random.below(graph.tape.size())));
    CompileOptions options;
    options.differentiated.emplace();
    for (Id id : graph.inputs)
      if (random.chance(0.8)) options.differentiated->push_back(id);
    for (Id id : graph.parameters)
      if (random.chance(0.8)) options.differentiated->push_back(id);
    const Program<Real> program = compile(graph.tape, std::span<const Id>(graph.outputs), options);
    const std::string file = saved(program);
    const Program<Real> again = loaded<Real>(file);
    BOOST_TEST_REQUIRE(again.inputs() == program.inputs());
    BOOST_TEST_REQUIRE(again.parameters() == program.parameters());
    BOOST_TEST_REQUIRE(again.outputs() == program.outputs());
    BOOST_TEST_REQUIRE(again.uniform_outputs() == program.uniform_outputs());
    BOOST_TEST_REQUIRE(again.differentiated() == program.differentiated());
    BOOST_TEST_REQUIRE(again.differentiated_parameters() == program.differentiated_parameters());
    BOOST_TEST_REQUIRE(again.statistics().forward_instructions == program.statistics().forward_instructions);
    const std::vector<Real> ours = results(again, seed), theirs = results(program, seed);
    BOOST_TEST_REQUIRE(ours.size() == theirs.size());
    for (std::size_t k = 0; k < ours.size(); ++k)
      BOOST_TEST_REQUIRE(same_bits(ours[k], theirs[k]), "graph " << seed << ", number " << k << ": " << show(ours[k])
                                                                 << ", before " << show(theirs[k]));
    BOOST_TEST_REQUIRE((saved(again) == file), "graph " << seed << ": saved again it is another file");
  }
}

/// Body of a file, written item by item.
struct Body {
  std::string bytes;
  Body& u32(std::uint32_t n) { return bytes += little_endian(n, 4), *this; }
  Body& u64(std::uint64_t n) { return bytes += little_endian(n, 8), *this; }
  Body& text(const std::string& text) {
    u32(static_cast<std::uint32_t>(text.size()));
    return bytes += text, *this;
  }
  Body& ids(std::initializer_list<std::uint32_t> list) {
    u64(list.size());
    for (std::uint32_t id : list) u32(id);
    return *this;
  }
  Body& reals(std::initializer_list<double> list) {
    u64(list.size());
    for (double x : list) u64(std::bit_cast<std::uint64_t>(x));
    return *this;
  }
};

/// exp(x) * c, or whatever else `ops`, `outputs` and so on make of it.
std::string file_with(std::initializer_list<std::uint32_t> words, std::initializer_list<std::uint32_t> outputs = {3},
                      std::initializer_list<std::uint32_t> differentiated = {0},
                      std::initializer_list<std::uint32_t> parameters = {}, std::uint64_t ops = 2,
                      const std::string& labels = std::string(8, '\0')) {
  Body body;
  body.u32(0).u32(3).text("exp").text("mul").text("softmax");
  body.reals({0.5}).ids(parameters).reals({2}).u64(ops).ids(words).ids(outputs).ids(differentiated).bytes += labels;
  body.u32(0).u64(0);
  return file_around(body.bytes);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(serialize)

BOOST_AUTO_TEST_CASE(loaded_programs_have_the_same_bits_f64) { random_programs<double>(soak(300)); }
BOOST_AUTO_TEST_CASE(loaded_programs_have_the_same_bits_f32) { random_programs<float>(soak(300)); }

BOOST_AUTO_TEST_CASE(the_format_is_what_it_was) {
  // Byte for byte what version 1 is: written here by hand, on any machine.
  Body body;
  body.u32(0).u32(4).text("add").text("mul").text("softplus").text("fma");
  body.reals({1, 2, 0.5}).ids({2}).reals({3});
  body.u64(4).ids({0, 0, 1, 1, 4, 0, 2, 5, 3, 3, 6, 2}).ids({7}).ids({0, 1, 2});
  body.u32(2).u32(0).text("x").u32(7).text("f").u32(1).u32(4).u32(7).u32(no_id).text("inner").u32(0).u64(0);
  BOOST_TEST((saved(small_program()) == file_around(body.bytes)));
  BOOST_TEST(loaded<double>(file_with({0, 0, 1, 2, 1})).statistics().recorded_ops == 2u);
}

BOOST_AUTO_TEST_CASE(guards_are_saved) {
  NaiveTape<double> tape;
  const Id x = tape.input(1), y = tape.input(2), p = tape.parameter(3);
  tape.guard(tape.gt(p, tape.constant(0)), "b.cpp", 7);
  tape.guard(tape.lt(x, y), "a.cpp", 5);
  const Program<double> program = compile(tape, tape.mul(x, p)), again = loaded<double>(saved(program));
  Body body;
  body.u32(0).u32(3).text("gt").text("lt").text("mul");
  body.reals({1, 2, 3}).ids({2}).reals({0});
  body.u64(3).ids({0, 2, 3, 1, 0, 1, 2, 0, 2}).ids({6}).ids({0, 1, 2}).u32(0).u32(0);
  body.u32(2).text("a.cpp").text("b.cpp").u64(2).u32(5).u32(0).u32(5).u32(1).u32(4).u32(1).u32(7).u32(1);
  BOOST_TEST((saved(program) == file_around(body.bytes)));
  BOOST_TEST((saved(again) == saved(program)));
  const double at[4] = {1, 2, 2, 1};
  double values[2];
  Replay<double> replay(again);
  BOOST_CHECK_EXCEPTION(replay.values(2, rows(at, 2), rows(values, 1)), Error, [](const Error& error) {
    return std::string(error.what()).find("sample 1 takes another path than was recorded: lt at a.cpp:5") == 0;
  });
  const double minus = -1;
  replay.set_parameters(std::span(&minus, 1));
  BOOST_CHECK_EXCEPTION(replay.values(1, rows(at, 2), rows(values, 1)), Error, [](const Error& error) {
    return std::string(error.what()).find("the whole batch takes another path than was recorded: gt at b.cpp:7") == 0;
  });

  // An outcome that isn't what the saved inputs give stays what it was.
  tape.set_input(x, 5);
  BOOST_CHECK_THROW(tape.forward(), Error);
  BOOST_TEST(loaded<double>(saved(compile(tape, y))).guard(0).outcome);

  const auto file = [&](std::uint32_t condition, std::uint32_t name, std::uint32_t outcome, std::uint64_t count) {
    Body b;
    b.u32(0).u32(0).reals({1}).ids({}).reals({}).u64(0).ids({}).ids({0}).ids({0}).u32(0).u32(0);
    b.u32(1).text("a.cpp").u64(count).u32(condition).u32(name).u32(9).u32(outcome);
    return file_around(b.bytes);
  };
  BOOST_TEST(loaded<double>(file(0, 0, 1, 1)).guard(0).condition == "a condition");
  BOOST_CHECK_EXCEPTION(loaded<double>(file(1, 0, 1, 1)), Error, bad_file("guard 0 is on variable 1 of 1"));
  BOOST_CHECK_EXCEPTION(loaded<double>(file(0, 1, 1, 1)), Error, bad_file("in source file 1 of 1"));
  BOOST_CHECK_EXCEPTION(loaded<double>(file(0, 0, 2, 1)), Error, bad_file("with the outcome 2"));
  BOOST_CHECK_EXCEPTION(loaded<double>(file(0, 0, 1, 2)), Error, bad_file("2 of them are more than the file has"));
}

BOOST_AUTO_TEST_CASE(what_nothing_depends_on_is_left_out) {
  NaiveTape<double> tape;
  const Id x = tape.input(2), unused = tape.input(3);
  for (int k = 0; k < 100; ++k) tape.exp(tape.add(unused, tape.constant(k)));
  const std::string file = saved(compile(tape, tape.square(x)));
  BOOST_TEST(file.size() < 250u);
  BOOST_TEST(loaded<double>(file).inputs() == 2u);
}

BOOST_AUTO_TEST_CASE(cut_off_anywhere) {
  const std::string file = saved(small_program());
  for (std::size_t length = 0; length < file.size(); ++length) {
    const std::string part = file.substr(0, length);
    const char* const says = length == 0 ? "empty" : "ends after";
    BOOST_CHECK_EXCEPTION(loaded<double>(part), Error, bad_file(says));
    std::istringstream stream(part);
    BOOST_CHECK_EXCEPTION(load_program<double>(stream), Error, bad_file(says));
  }
}

BOOST_AUTO_TEST_CASE(altered_anywhere) {
  const std::string file = saved(small_program());
  for (std::size_t at = 0; at < file.size(); ++at)
    for (const int bit : {0, 3, 7}) {
      std::string other = file;
      other[at] = static_cast<char>(other[at] ^ 1 << bit);
      BOOST_CHECK_EXCEPTION(loaded<double>(other), Error, bad_file("not a usable program file"));
      std::istringstream stream(other);
      BOOST_CHECK_EXCEPTION(load_program<double>(stream), Error, bad_file("not a usable program file"));
    }
}

BOOST_AUTO_TEST_CASE(altered_with_the_checksum_made_right) {
  // Whatever comes of it, it is a program or bad_file; a program can be run.
  std::size_t accepted = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= soak(3000); ++seed) {
    Random random(seed);
    RandomTape<double> graph = random_tape<double>(random, 1 + random.below(20), 0.3, true);
    while (random.chance(0.3)) graph.tape.guard(static_cast<Id>(random.below(graph.tape.size())));
    std::string body = body_of(saved(compile(graph.tape, std::span<const Id>(graph.outputs))));
    for (std::size_t change = 0; change <= random.below(3); ++change) {
      const std::size_t at = random.below(body.size());
      const int how = static_cast<int>(random.below(4));
      if (how == 0) body[at] = static_cast<char>(random.bits());
      if (how == 1) body[at] = static_cast<char>(body[at] + (random.chance(0.5) ? 1 : -1));
      if (how == 2) body.erase(at, random.below(9));
      if (how == 3) body.insert(at, little_endian(random.bits(), random.below(9)));
    }
    try {
      const Program<double> program = loaded<double>(file_around(body));
      results(program, seed);
      ++accepted;
    } catch (const Error& error) {
      BOOST_TEST_REQUIRE((error.code() == ErrorCode::bad_file), "graph " << seed << ": " << error.what());
      ++refused;
    }
  }
  BOOST_TEST(accepted > 0u);
  BOOST_TEST(refused > 0u);
}

BOOST_AUTO_TEST_CASE(made_to_hurt) {
  const auto refused = [](const std::string& file, const std::string& part) {
    BOOST_CHECK_EXCEPTION(loaded<double>(file), Error, bad_file(part));
  };
  refused(file_with({0, 7, 1, 2, 1}), "uses variable 7, but only 2 come before it");
  refused(file_with({0, 3, 1, 2, 1}), "uses variable 3, but only 2 come before it");  // a cycle
  refused(file_with({0, 0, 1, 2, 3}), "uses variable 3");                             // itself
  refused(file_with({9, 0, 1, 2, 1}), "number 9 of a list of 3 ops");
  refused(file_with({0, 0, 1, 2}), "has 2 operands, of which 1 are in the file");
  refused(file_with({0, 0, 1}), "has no operands");
  refused(file_with({0, 0, 2, 0xffffffff, 1}), "has 4294967295 operands");
  refused(file_with({0, 0, 2, 0}), "softmax doesn't take 0 operands");
  refused(file_with({0, 0, 1, 2, 1}, {4}), "an output is variable 4 of 4");
  refused(file_with({0, 0, 1, 2, 1}, {}), "no outputs");
  refused(file_with({0, 0, 1, 2, 1}, {3}, {2}), "not an input");
  refused(file_with({0, 0, 1, 2, 1}, {3}, {0, 0}), "twice");
  refused(file_with({0, 0, 1, 2, 1}, {3}, {0}, {1}), "out of order or of range");
  refused(file_with({0, 0, 1, 2, 1}, {3}, {0}, {0, 0}), "out of order or of range");
  refused(file_with({0, 0, 1, 2, 1}, {3}, {0}, {}, 3), "says to have 3 ops, and has 2");
  const auto labelled = [](const Body& labels) { return file_with({0, 0, 1, 2, 1}, {3}, {0}, {}, 2, labels.bytes); };
  BOOST_CHECK_NO_THROW(
      loaded<double>(labelled(Body().u32(1).u32(3).text("f").u32(1).u32(2).u32(4).u32(no_id).text("s"))));
  refused(labelled(Body().u32(1).u32(4).text("f").u32(0)), "a label is of variable 4");
  refused(labelled(Body().u32(2).u32(3).text("f").u32(3).text("f").u32(0)), "a label is of variable 3");
  refused(labelled(Body().u32(0).u32(1).u32(3).u32(2).u32(no_id).text("s")), "scope 0 from variable 3 to 2");
  refused(labelled(Body().u32(0).u32(1).u32(3).u32(5).u32(no_id).text("s")), "scope 0 from variable 3 to 5");
  refused(labelled(Body().u32(0).u32(1).u32(3).u32(4).u32(0).text("s")), "within scope 0");  // within itself
  refused(labelled(Body().u32(0xffffffff)), "4294967295 labels or scopes");
  refused(file_around(Body().u32(2).bytes), "no zero rule 2");
  refused(file_around(Body().u32(0).u32(1).text("expp").bytes), "op 'expp'");
  refused(file_around(Body().u32(0).u32(0xffffffff).bytes), "4294967295 op names");
  refused(file_around(Body().u32(0).u32(1).u32(0xffffffff).bytes), "only 0 are left");
  for (const std::uint64_t length :
       {std::uint64_t(1), std::uint64_t(1) << 32, std::uint64_t(1) << 61, ~std::uint64_t(0)})
    refused(file_around(Body().u32(0).u32(0).u64(length).bytes), "more than the file has");
  refused(file_around(body_of(saved(small_program())) + "x"), "1 bytes are left over");

  std::string file = saved(small_program());
  refused(file_around(body_of(file), 8, 2), "version 2");
  refused(file_around(body_of(file), 8, 0), "version 0");
  refused(file_around(body_of(file), 16), "16 bytes; 4 (float) and 8 (double)");
  refused(file_around(body_of(file), 4), "use load_program<float>");
  refused(file + "x", "1 bytes follow its end");
  refused("P6\n3 3\n255\n and some more", "doesn't begin as one");
  // A header that promises more than memory holds: nothing is allocated for that.
  file.replace(16, 8, little_endian(std::uint64_t(1) << 62, 8));
  refused(file, "its header promises 4611686018427387904");
  std::istringstream stream(file);
  BOOST_CHECK_EXCEPTION(load_program<double>(stream), Error, bad_file("its header promises 4611686018427387904"));
}

BOOST_AUTO_TEST_CASE(constants_chosen_for_their_hashes_take_no_longer) {
  // All in one place of the compiler's table: would take 10^11 steps if they were looked for one by one.
  NaiveTape<double> tape;
  std::vector<Id> ids = {tape.input()};
  const std::uint64_t inverse = 0xf1de83e19937733d;  // of 0x9e3779b97f4a7c15, modulo 2^64
  static_assert(inverse * 0x9e3779b97f4a7c15u == 1);
  for (std::uint64_t k = 0; k < 400'000; ++k) ids.push_back(tape.constant(std::bit_cast<double>((k << 45) * inverse)));
  const Id f = tape.sum(ids);
  const std::clock_t start = std::clock();
  BOOST_TEST(compile(tape, f).statistics().recorded_ops == 1u);
  BOOST_TEST(std::clock() - start < 15 * CLOCKS_PER_SEC);  // of this process alone; usually a tenth of a second
}

BOOST_AUTO_TEST_CASE(files_and_streams) {
  const Folder folder;
  const Program<double> program = small_program();
  const std::string path = folder / "small.wng", bytes = saved(program);
  std::ofstream(path) << "what was there before";
  program.save(path);
  BOOST_TEST(folder.entries() == 1u);
  BOOST_TEST(fs::file_size(path) == bytes.size());
  BOOST_TEST(saved_precision(path) == 8u);
  BOOST_TEST((saved(load_program<double>(path)) == bytes));
  BOOST_CHECK_EXCEPTION(load_program<float>(path), Error, bad_file("use load_program<double>"));

  std::stringstream both;  // one after another
  program.save(both);
  program.save(both);
  both << "rest";
  BOOST_TEST((saved(load_program<double>(both)) == bytes));
  BOOST_TEST((saved(load_program<double>(both)) == bytes));
  std::string rest;
  both >> rest;
  BOOST_TEST(rest == "rest");

  std::ofstream(path, std::ios::app) << "more";
  BOOST_CHECK_EXCEPTION(load_program<double>(path), Error, bad_file("more bytes follow its end"));
  BOOST_CHECK_EXCEPTION(load_program<double>(folder / "none"), Error, bad_file("No such file"));
  BOOST_CHECK_EXCEPTION(load_program<double>(folder / "."), Error, bad_file("Is a directory"));
  BOOST_CHECK_EXCEPTION(saved_precision(folder / "none"), Error, bad_file("none: can't be read"));
  BOOST_CHECK_EXCEPTION(program.save(folder / "no/such/folder"), Error, bad_file("can't be written"));
  fs::create_directory(folder / "folder");
  BOOST_CHECK_EXCEPTION(program.save(folder / "folder"), Error, bad_file("can't be written"));
  BOOST_TEST(folder.entries() == 2u);  // and no temporary file
  std::ofstream closed;
  BOOST_CHECK_EXCEPTION(program.save(closed), Error, bad_file("the stream doesn't take"));
}

BOOST_AUTO_TEST_CASE(what_is_no_file_is_not_replaced) {
  const Folder folder;
  const Program<double> program = small_program();
  const std::string bytes = saved(program), pipe = folder / "pipe", link = folder / "link";
  BOOST_REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  BOOST_REQUIRE(reader >= 0);
  program.save(pipe);
  std::string read(bytes.size() + 1, ' ');
  read.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(reader, read.data(), read.size()), 0)));
  close(reader);
  BOOST_TEST((read == bytes));
  BOOST_TEST(fs::is_fifo(pipe));
  if (fs::exists("/dev/full")) BOOST_CHECK_EXCEPTION(program.save("/dev/full"), Error, bad_file("No space left"));

  std::ofstream(folder / "file") << "what was there before";
  fs::create_symlink(folder / "file", link);
  program.save(link);
  BOOST_TEST(fs::is_symlink(link));
  BOOST_TEST((saved(load_program<double>(folder / "file")) == bytes));
  BOOST_TEST(folder.entries() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
