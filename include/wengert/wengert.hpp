// wengert/wengert.hpp: all of it. What an embedding program includes.
//
//   wengert::NaiveTape<double> tape;
//   wengert::Id x = tape.input(1.0), y = tape.input(2.0);
//   wengert::Id f = tape.softplus(tape.mul(tape.add(x, y), x));
//   tape.backward(f);
//   std::printf("f = %g, df/dx = %g, df/dy = %g\n", tape.value(f), tape.grad(x), tape.grad(y));
#pragma once

#include "wengert/error.hpp"
#include "wengert/ops.hpp"
#include "wengert/tape.hpp"
#include "wengert/version.hpp"
