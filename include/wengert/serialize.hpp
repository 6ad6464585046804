// wengert/serialize.hpp: programs as files, the same on every machine and instruction set.
//
//   #include <cstdio>
//   #include <sstream>
//   wengert::NaiveTape<double> tape;
//   wengert::Id x = tape.input(1.0), y = tape.input(2.0);
//   wengert::Id f = tape.softplus(tape.mul(tape.add(x, y), x));
//   std::stringstream file;
//   wengert::compile(tape, f).save(file);
//   wengert::Program<double> program = wengert::load_program<double>(file);
//   std::puts(program.describe().c_str());
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>

#include "wengert/api.hpp"
#include "wengert/program.hpp"

namespace wengert {

// A file holds the ops that the outputs depend on, not the plan: loading compiles them again, so a program gets whatever
// this machine's version of the library makes of it, and its results have the same bits. docs/program-files.md has the
// format. What loading does is in the file's checksum; it isn't a signature, so a file of unknown origin may compute
// anything and take time and memory in proportion to its size, but nothing worse.

/// @{
/// Reads what Program::save wrote. From a stream: one program, and leaves the stream right behind it. Throws bad_file, saying
/// what is wrong: not a program, of another precision, cut off, altered, of a newer version of the library; out_of_memory.
template <class Real>
WENGERT_API Program<Real> load_program(const std::string& path);
template <class Real>
WENGERT_API Program<Real> load_program(std::istream& stream);
template <class Real>
WENGERT_API Program<Real> load_program(std::span<const std::byte> bytes);
/// @}

/// Bytes of the numbers that a file's program computes with: 8 for double, 4 for float. Throws bad_file.
WENGERT_API std::size_t saved_precision(const std::string& path);

extern template Program<double> load_program(const std::string&);
extern template Program<float> load_program(const std::string&);
extern template Program<double> load_program(std::istream&);
extern template Program<float> load_program(std::istream&);
extern template Program<double> load_program(std::span<const std::byte>);
extern template Program<float> load_program(std::span<const std::byte>);

}  // namespace wengert
