#define BOOST_TEST_MODULE program
#include <boost/test/unit_test.hpp>
