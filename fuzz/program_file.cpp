// The loader of programs: whatever the bytes, a program that runs, or bad_file.
#include <sstream>

#include "fuzz/bytes.hpp"
#include "tests/program/program_file.hpp"
#include "wengert/diagnose.hpp"
#include "wengert/replay.hpp"

namespace wengert::fuzz {
namespace {

template <class Real>
void load(const std::string& file) {
  std::optional<Program<Real>> program;
  try {
    program = test::loaded<Real>(file);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_file, error.what());
    return;
  }
  const std::string again = test::saved(*program);
  require(test::saved(test::loaded<Real>(again)) == again, "saved twice, and not the same");
  require(!dot(*program).empty(), "no drawing");
  const std::size_t n = program->inputs(), m = program->outputs(), d = program->differentiated(), samples = 3;
  std::vector<Real> points(samples * n, Real(0.5)), values(samples * m), gradients(samples * d);
  ReplayOptions options;
  options.isa = "scalar";
  options.report_departures = true;  // guards hold as they like
  Replay<Real> replay(*program, options);
  replay.vjp(samples, rows<const Real>(points.data(), n), {}, rows(values.data(), m), rows(gradients.data(), d));
}

template <class Real>
void load_from_stream(const std::string& file) {
  std::istringstream stream(file);
  try {
    load_program<Real>(stream);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_file, error.what());
  }
}

}  // namespace
}  // namespace wengert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wengert::fuzz;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  load<double>(bytes);
  load_from_stream<float>(bytes);
  // A checksum is nothing that a fuzzer guesses: the same as a body, in a file that is right around it.
  const std::size_t header = bytes.starts_with("\x89WNG") && size > 32 ? wengert::test::header_bytes : 0;
  const std::string body = header ? bytes.substr(header, size - header - 8) : bytes;
  load<double>(wengert::test::file_around(body, 8));
  load<float>(wengert::test::file_around(body, 4));
  return 0;
}
