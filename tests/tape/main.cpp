#define BOOST_TEST_MODULE tape
#include <boost/test/unit_test.hpp>
