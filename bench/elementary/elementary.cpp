// Our elementary functions on AVX-512 or AVX2 against those of libmvec, SLEEF and Highway: time per element and largest error.
//
//   meson setup build/release && meson compile -C build/release elementary_benchmark
//   build/release/bench/elementary/elementary_benchmark --csv elementary.csv
//
// Needs Debian's libmpfr-dev, and of libsleef-dev, libhwy-dev what it shall compare with (`scripts/setup peers`).
//
// Time: 1,024 numbers drawn evenly from the function's range, from and to the first-level cache. A slice of 50
// microseconds for every function, precision and library, in an order shuffled anew in each round, so that what slows the
// machine hits all; reported are minimum and median over the rounds. Error: the largest, in units in the last place of the
// exact result (MPFR), over points half of which are drawn evenly and half have every size equally often. Judged are
// points whose exact result is a normal number; NaN or infinity there is infinitely wrong. All libraries see the same.
// What a sample finds is a lower bound: where two libraries' errors are close, ask again with more points, another seed.
#include <fmt/format.h>
#include <mpfr.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/csv.hpp"
#include "bench/elementary/contenders.hpp"
#include "bench/elementary/functions.hpp"
#include "bench/statistics.hpp"
#include "kernels/dispatch.hpp"

namespace {

using namespace wengert::bench;

constexpr char usage[] =
    "usage: elementary_benchmark [--points N] [--rounds N] [--seed N] [--csv FILE]\n\n"
    "Times our elementary functions on AVX-512 or AVX2 (WENGERT_ISA=avx2 asks for it) against libmvec, SLEEF, Highway\n"
    "and scalar glibc, and measures the largest error of each. Prints a table in Markdown.\n\n"
    "  --points N   points on which errors are measured (200000)\n"
    "  --rounds N   interleaved slices of 50 microseconds timed of each (300)\n"
    "  --seed N     of the points (1)\n"
    "  --csv FILE   write all that was measured there, replacing it when complete\n";

struct Options {
  std::size_t points = 200'000, rounds = 300;
  std::uint64_t seed = 1;
  std::string csv;
};

/// For scale: scalar.
template <class Real>
Contenders<Real> glibc() {
#define LOOP(result)                                                            \
  [](const Real* x, [[maybe_unused]] const Real* y, Real* out, std::size_t n) { \
    for (std::size_t i = 0; i < n; ++i) out[i] = result;                        \
  }
#define ONE(function) \
  { #function, "glibc", LOOP(std::function(x[i])) }
  static const Contender<Real> rows[] = {ONE(exp),  ONE(log),  ONE(log1p),
                                         ONE(tanh), ONE(sin),  ONE(cos),
                                         ONE(erf),  ONE(erfc), {"pow", "glibc", LOOP(std::pow(x[i], y[i]))}};
#undef ONE
#undef LOOP
  return {rows, std::size(rows)};
}

// The columns. SLEEF has one of 1 unit (erfc: 1.5) and of some functions one of 3.5.
constexpr const char* libraries[] = {"ours", "libmvec", "SLEEF", "SLEEF u35", "Highway", "glibc"};

/// Of the instruction set that programs run on here: ours, libmvec's, SLEEF's, Highway's. Empty where that has no vectors.
std::array<const Library*, 4> libraries_here() {
  switch (wengert::default_isa()) {
#ifdef WENGERT_HAS_AVX512
    case wengert::Isa::avx512: return {&ours_avx512, &libmvec_avx512, &sleef_avx512, &highway_avx512};
#endif
#ifdef WENGERT_HAS_AVX2
    case wengert::Isa::avx2: return {&ours_avx2, &libmvec_avx2, &sleef_avx2, &highway_avx2};
#endif
    default: return {};
  }
}

// ---- measuring -------------------------------------------------------------------------------------------------------

/// One library's function in one precision.
struct Series {
  const Function* function;
  bool f64;
  std::string_view library;
  std::function<void()> run;  // over the timed points once
  std::size_t repeats = 1;
  std::vector<double> ns;  // per element, by round
  double ulp = 0, worst_x = NAN, worst_y = NAN;

  double least() const { return *std::min_element(ns.begin(), ns.end()); }
  double middle() const { return median(ns); }
};

constexpr std::size_t timed = 1024;

/// Seconds of one slice.
double slice(const Series& series) {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t k = 0; k < series.repeats; ++k) series.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void time_all(std::vector<Series>& all, const Options& options) {
  for (Series& series : all) {
    const double once = std::min({slice(series), slice(series), slice(series)});
    series.repeats = static_cast<std::size_t>(std::clamp(50e-6 / std::max(once, 1e-9), 1., 1e4));
  }
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  SplitMix random(options.seed);
  for (std::size_t round = 0; round < options.rounds; ++round) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    for (const std::size_t i : order)
      all[i].ns.push_back(slice(all[i]) * 1e9 / static_cast<double>(all[i].repeats * timed));
  }
}

template <class Real>
void measure_errors(const Function& function, const Options& options, std::vector<std::pair<Series*, Loop<Real>>> of) {
  using Limits = std::numeric_limits<Real>;
  const Points<Real> points(function, options.points, options.seed, true);
  std::vector<std::vector<Real>> results(of.size(), std::vector<Real>(options.points));
  for (std::size_t k = 0; k < of.size(); ++k)
    of[k].second(points.x.data(), points.y.data(), results[k].data(), options.points);
  mpfr_t x, y, exact, error;
  mpfr_inits2(96, x, y, exact, error, mpfr_ptr(nullptr));
  for (std::size_t i = 0; i < options.points; ++i) {
    mpfr_set_d(x, points.x[i], MPFR_RNDN);
    mpfr_set_d(y, points.y[i], MPFR_RNDN);
    function.exact(exact, x, y);
    if (!mpfr_regular_p(exact) || mpfr_get_exp(exact) < Limits::min_exponent ||
        mpfr_get_exp(exact) > Limits::max_exponent)
      continue;
    for (std::size_t k = 0; k < of.size(); ++k) {
      double ulp = std::numeric_limits<double>::infinity();
      if (std::isfinite(results[k][i])) {
        mpfr_set_d(error, results[k][i], MPFR_RNDN);
        mpfr_sub(error, error, exact, MPFR_RNDN);
        mpfr_mul_2si(error, error, Limits::digits - mpfr_get_exp(exact), MPFR_RNDN);
        ulp = std::fabs(mpfr_get_d(error, MPFR_RNDN));
      }
      Series& series = *of[k].first;
      if (!(ulp > series.ulp)) continue;
      series.ulp = ulp;
      series.worst_x = points.x[i];
      if (function.two) series.worst_y = points.y[i];
    }
  }
  mpfr_clears(x, y, exact, error, mpfr_ptr(nullptr));
}

/// What of all libraries computes `function`, with errors and without times.
template <class Real>
void add(std::vector<Series>& all, const Function& function, const Options& options) {
  struct alignas(64) Memory {
    Real x[timed], y[timed], out[timed];
  };
  const auto memory = std::make_shared<Memory>();
  const Points<Real> points(function, timed, options.seed, false);
  std::copy(points.x.begin(), points.x.end(), memory->x);
  std::copy(points.y.begin(), points.y.end(), memory->y);
  const std::size_t before = all.size();
  std::vector<Loop<Real>> loops;
  std::vector<Contenders<Real>> contenders;
  for (const Library* library : libraries_here()) contenders.push_back(library->of<Real>());
  contenders.push_back(glibc<Real>());
  for (const Contenders<Real>& library : contenders)
    for (const Contender<Real>* c = library.first; c != library.first + library.count; ++c) {
      if (std::strcmp(c->function, function.name) != 0) continue;
      const auto run = [memory, loop = c->loop] { loop(memory->x, memory->y, memory->out, timed); };
      all.push_back({&function, sizeof(Real) == 8, c->library, run, 1, {}});
      loops.push_back(c->loop);
    }
  std::vector<std::pair<Series*, Loop<Real>>> of;
  for (std::size_t k = 0; k < loops.size(); ++k) of.emplace_back(&all[before + k], loops[k]);
  measure_errors<Real>(function, options, of);
}

// ---- reports ---------------------------------------------------------------------------------------------------------

const Series* find(const std::vector<Series>& all, const Function& function, bool f64, std::string_view library) {
  for (const Series& series : all)
    if (series.function == &function && series.f64 == f64 && series.library == library) return &series;
  return nullptr;
}

void print_table(const std::vector<Series>& all) {
  fmt::print("| function |  |");
  for (const char* library : libraries) fmt::print(" {} |", library);
  fmt::print(" fastest peer no less exact | ours / that | by medians |\n|---|---|");
  for (std::size_t k = 0; k < std::size(libraries) + 3; ++k) fmt::print("---|");
  fmt::print("\n");
  for (const Function& function : functions)
    for (const bool f64 : {true, false}) {
      const Series& mine = *find(all, function, f64, "ours");
      const Series* best = nullptr;
      fmt::print("| {} | {} |", function.name, f64 ? "f64" : "f32");
      for (const std::string_view library : libraries) {
        const Series* series = find(all, function, f64, library);
        if (series) fmt::print(" {:.3f} [{:.3g}] |", series->least(), series->ulp);
        else fmt::print(" |");
        if (!series || library == "ours" || library == "glibc" || series->ulp > mine.ulp) continue;
        if (!best || series->least() < best->least()) best = series;
      }
      if (best)
        fmt::print(" {} | {:.2f} | {:.2f} |\n", best->library, mine.least() / best->least(),
                   mine.middle() / best->middle());
      else fmt::print(" none | | |\n");
    }
  fmt::print("\nNanoseconds per element [largest error, units in the last place].");
  for (const bool f64 : {true, false}) {
    const Series &mine = *find(all, functions[0], f64, "ours"), &theirs = *find(all, functions[0], f64, "glibc");
    fmt::print(" exp against glibc's scalar exp, {}: {:.3f} (by medians {:.3f}).", f64 ? "f64" : "f32",
               mine.least() / theirs.least(), mine.middle() / theirs.middle());
  }
  fmt::print("\n");
}

std::string csv_of(const std::vector<Series>& all, const Options& options) {
  Csv csv;
  csv << "function"
      << "precision"
      << "library"
      << "low"
      << "high"
      << "rounds"
      << "ns_min"
      << "ns_median"
      << "points"
      << "max_ulp"
      << "worst_x"
      << "worst_y";
  csv.end();
  for (const Series& s : all) {
    const Range& range = s.f64 ? s.function->f64 : s.function->f32;
    csv << s.function->name << (s.f64 ? "f64" : "f32") << s.library << range.low << range.high << options.rounds
        << s.least() << s.middle() << options.points << s.ulp << s.worst_x << s.worst_y;
    csv.end();
  }
  return csv.text();
}

/// Whole or not at all.
bool replace_file(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  std::FILE* file = std::fopen(beside.c_str(), "wb");
  bool good = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file) good = std::fclose(file) == 0 && good;
  std::error_code error;
  if (good) std::filesystem::rename(beside, path, error);
  if (good && !error) return true;
  std::remove(beside.c_str());
  return false;
}

template <class Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i], text = argv[i + 1];
    if (name == "--csv") options.csv = text;
    else if (name == "--points" && parse(text, options.points) && options.points >= 16)
      options.points -= options.points % 16;
    else if (name == "--rounds" && parse(text, options.rounds) && options.rounds >= 1) continue;
    else if (name == "--seed" && parse(text, options.seed)) continue;
    else return false;
  }
  return argc % 2 == 1;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--help") return std::fputs(usage, stdout) < 0;
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(usage, stderr);
    return 2;
  }
  const std::array<const Library*, 4> here = libraries_here();
  if (!here[0]) {
    std::fputs("elementary_benchmark: compares vectors of AVX2 and AVX-512, neither of which is usable here\n", stderr);
    return 1;
  }
  for (const auto& [name, library] :
       {std::pair("libmvec", here[1]), std::pair("SLEEF", here[2]), std::pair("Highway", here[3])})
    if (library->f64.count == 0) std::fprintf(stderr, "%s: not in this build\n", name);
  fmt::print("{}\n\n", wengert::name(wengert::default_isa()));

  std::vector<Series> all;
  for (const Function& function : functions) {
    add<double>(all, function, options);
    add<float>(all, function, options);
  }
  time_all(all, options);
  print_table(all);
  if (options.csv.empty() || replace_file(options.csv, csv_of(all, options))) return 0;
  fmt::print(stderr, "elementary_benchmark: cannot write {}\n", options.csv);
  return 1;
}
