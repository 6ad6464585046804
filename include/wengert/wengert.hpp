// wengert/wengert.hpp: all of it. What an embedding program includes.
//
//   wengert::NaiveTape<double> tape;
//   wengert::Var<double> x = input(tape, 1.0), y = input(tape, 2.0);
//   wengert::Var<double> f = softplus((x + y) * x);
//   backward(f);
//   std::printf("f = %g, df/dx = %g, df/dy = %g\n", value(f), grad(x), grad(y));
#pragma once

#include "wengert/checkpoint.hpp"
#include "wengert/custom.hpp"
#include "wengert/diagnose.hpp"
#include "wengert/error.hpp"
#include "wengert/function.hpp"
#include "wengert/implicit.hpp"
#include "wengert/labels.hpp"
#include "wengert/ops.hpp"
#include "wengert/program.hpp"
#include "wengert/ranges.hpp"
#include "wengert/replay.hpp"
#include "wengert/samples.hpp"
#include "wengert/serialize.hpp"
#include "wengert/tape.hpp"
#include "wengert/time_loop.hpp"
#include "wengert/var.hpp"
#include "wengert/version.hpp"

/// All of the library. Classes are templates over the numbers that they compute with, double or float.
namespace wengert {}
