// All elementary functions.
#pragma once

#include "kernels/math/erf.hpp"
#include "kernels/math/erfcx_slope.hpp"
#include "kernels/math/exp.hpp"
#include "kernels/math/gamma.hpp"
#include "kernels/math/hyperbolic.hpp"
#include "kernels/math/hypot.hpp"
#include "kernels/math/inverse_trig.hpp"
#include "kernels/math/log.hpp"
#include "kernels/math/logistic.hpp"
#include "kernels/math/normal.hpp"
#include "kernels/math/pow.hpp"
#include "kernels/math/remainder.hpp"
#include "kernels/math/trig.hpp"
