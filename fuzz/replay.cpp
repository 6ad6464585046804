// Runs a fuzz target on files and on all files of folders: what the ordinary tests do with the corpora, and how to look into
// what a fuzzer found.
//
//   fuzz_passes fuzz/corpus/passes crash-0123abcd
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::size_t run(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    std::fprintf(stderr, "can't read %s\n", path.c_str());
    return 0;
  }
  std::fprintf(stderr, "%s\n", path.c_str());
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 0;
  for (int k = 1; k < argc; ++k) {
    std::vector<std::filesystem::path> paths = {argv[k]};
    if (std::filesystem::is_directory(argv[k]))
      paths.assign(std::filesystem::directory_iterator(argv[k]), std::filesystem::directory_iterator());
    std::sort(paths.begin(), paths.end());
    for (const std::filesystem::path& path : paths) count += run(path);
  }
  std::printf("%zu inputs\n", count);
  return count == 0;
}
