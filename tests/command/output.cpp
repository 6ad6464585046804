#include "src/output.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "bench/temporary_folder.hpp"
#include "src/exit_code.hpp"

using namespace wengert::command;
namespace fs = std::filesystem;

namespace {

/// A folder of its own for each case.
struct Folder {
  const wengert::bench::TemporaryFolder folder;
  const fs::path& path = folder.path();

  std::size_t files() const { return std::size_t(std::distance(fs::directory_iterator(path), {})); }
};

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& file, const std::string& text) {
  const std::pair<OutputFile, std::string> one[] = {{OutputFile(file), text}};
  write_files(one);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(output, Folder)

BOOST_AUTO_TEST_CASE(a_file_is_replaced_and_nothing_else_is_left) {
  write(path / "a.csv", "one");
  write(path / "a.csv", "two\r\n");
  BOOST_TEST(contents(path / "a.csv") == "two\r\n");
  BOOST_TEST(files() == 1u);
}

BOOST_AUTO_TEST_CASE(checking_leaves_no_trace) {
  const OutputFile file(path / "a.csv");
  BOOST_TEST(files() == 0u);
}

BOOST_AUTO_TEST_CASE(a_link_stays_a_link) {
  write(path / "a.csv", "one");
  fs::create_symlink("a.csv", path / "link.csv");
  write(path / "link.csv", "two");
  BOOST_TEST(fs::is_symlink(path / "link.csv"));
  BOOST_TEST(contents(path / "a.csv") == "two");
}

BOOST_AUTO_TEST_CASE(folders_and_missing_folders_are_refused) {
  BOOST_CHECK_THROW(OutputFile{path}, Failure);
  BOOST_CHECK_THROW(OutputFile{path / "none" / "a.csv"}, Failure);
  write(path / "a.csv", "one");
  BOOST_CHECK_THROW(make_folder(path / "a.csv"), Failure);
  BOOST_CHECK_THROW(make_folder(path / "a.csv" / "b"), Failure);
  make_folder(path / "x" / "y");
  BOOST_TEST(fs::is_directory(path / "x" / "y"));
  make_folder(path / "x" / "y");
}

/// What a refusal says.
template <class Act>
std::string refusal(Act act) {
  try {
    act();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

BOOST_AUTO_TEST_CASE(a_place_that_cannot_even_be_looked_at) {
  const fs::path name_too_long = path / std::string(300, 'a');
  const std::string reason = ": File name too long";
  BOOST_TEST(refusal([&] { make_folder(name_too_long); }) ==
             "can't make the folder " + name_too_long.string() + reason);
  BOOST_TEST(refusal([&] { OutputFile{name_too_long / "a.csv"}; }) ==
             "can't write " + (name_too_long / "a.csv").string() + reason);
  const fs::path before = fs::current_path(), gone = path / "gone";
  fs::create_directory(gone);
  fs::current_path(gone);
  fs::remove(gone);
  const std::string said = refusal([] { OutputFile{"a.csv"}; });
  fs::current_path(before);
  BOOST_TEST(said == "can't write a.csv: No such file or directory");
}

// A file size limit stands in for a disk that is full: the second file is too long for it.
BOOST_AUTO_TEST_CASE(when_one_cannot_be_written_none_is_replaced) {
  write(path / "a.csv", "old a");
  write(path / "b.csv", "old b");
  const std::pair<OutputFile, std::string> both[] = {{OutputFile(path / "a.csv"), "new a"},
                                                     {OutputFile(path / "b.csv"), std::string(100000, 'b')}};
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{}, small{};
  getrlimit(RLIMIT_FSIZE, &limit);
  small = limit;
  small.rlim_cur = 4096;
  setrlimit(RLIMIT_FSIZE, &small);
  std::string said;
  try {
    write_files(both);
  } catch (const Failure& failure) {
    said = failure.what();
    BOOST_TEST(failure.code() == ExitCode::failed);
  }
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, previous);
  BOOST_TEST(said.find("b.csv") != std::string::npos);
  BOOST_TEST(contents(path / "a.csv") == "old a");
  BOOST_TEST(contents(path / "b.csv") == "old b");
  BOOST_TEST(files() == 2u);
}

BOOST_AUTO_TEST_CASE(a_device_is_written_to_not_replaced) {
  write("/dev/null", "text");
  BOOST_TEST(fs::is_character_file("/dev/null"));
  BOOST_CHECK_THROW(write("/dev/full", "text"), Failure);
  BOOST_TEST(fs::is_character_file("/dev/full"));
}

// /dev/stdout and what a shell makes of >(command) are links to pipes, whose targets have no path.
BOOST_AUTO_TEST_CASE(a_link_to_a_pipe_is_written_to) {
  int ends[2];
  BOOST_TEST_REQUIRE(pipe(ends) == 0);
  write("/proc/self/fd/" + std::to_string(ends[1]), "text");
  fs::create_symlink("/proc/self/fd/" + std::to_string(ends[1]), path / "link.csv");
  write(path / "link.csv", "more");
  close(ends[1]);
  char read_back[9] = {};
  BOOST_TEST(read(ends[0], read_back, 8) == 8);
  BOOST_TEST(std::string(read_back) == "textmore");
  close(ends[0]);
  BOOST_TEST(fs::is_symlink(path / "link.csv"));
}

BOOST_AUTO_TEST_SUITE_END()
