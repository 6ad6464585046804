#define BOOST_TEST_MODULE codegen
#include <boost/test/unit_test.hpp>
