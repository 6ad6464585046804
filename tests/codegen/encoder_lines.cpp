// Prints instructions as the encoder makes them, a line each: the bytes in hex, a tab, the text for an assembler (AT&T).
// encoder.py compares the bytes with the assembler's.
#include <cstdio>
#include <string>
#include <vector>

#include "codegen/encoder.hpp"
#include "tests/random.hpp"

namespace wengert::test {
namespace {

using codegen::Encoder;
using codegen::Gpr;
using codegen::Opcode;
using codegen::Place;

struct Form {
  Opcode op;
  const char* name;
  int sources;    // vectors: the last may be memory
  int immediate;  // -1: none
  bool to_mask;
};

const char* name(Gpr base) {
  switch (base) {
    case Gpr::rax: return "%rax";
    case Gpr::rcx: return "%rcx";
    case Gpr::rdx: return "%rdx";
    case Gpr::rsi: return "%rsi";
    case Gpr::rdi: break;
  }
  return "%rdi";
}

std::string vector(unsigned number) { return "%zmm" + std::to_string(number); }

std::string text(const Place& place, std::size_t real_bytes) {
  if (!place.memory) return vector(place.reg);
  std::string all = std::to_string(place.offset) + "(" + name(place.base) + ")";
  if (place.broadcast) all += real_bytes == 8 ? "{1to8}" : "{1to16}";
  return all;
}

Place random_place(Random& random, std::size_t real_bytes) {
  if (random.chance(0.4)) return Place::vector(static_cast<unsigned>(random.below(32)));
  const std::vector<Gpr> bases = {Gpr::rax, Gpr::rcx, Gpr::rdx, Gpr::rsi, Gpr::rdi};
  const Gpr base = random.of(bases);
  const bool broadcast = random.chance(0.5);
  const int unit = broadcast ? static_cast<int>(real_bytes) : 64;
  // Around the ends of what a short displacement reaches, and where it doesn't divide.
  const std::vector<int> steps = {-100000, -129, -128, -127, -1, 0, 1, 126, 127, 128, 100000};
  const int offset = random.of(steps) * unit + (random.chance(0.2) ? 4 : 0);
  return broadcast ? Place::all_lanes(base, offset) : Place::at(base, offset);
}

void print(const Encoder& encoder, const std::string& line) {
  for (const std::uint8_t byte : encoder.bytes()) std::printf("%02x", byte);
  std::printf("\t%s\n", line.c_str());
}

void print_vector_forms(Random& random, std::size_t real_bytes, const std::vector<Form>& forms) {
  for (const Form& form : forms)
    for (int k = 0; k < 20; ++k) {
      Encoder encoder(real_bytes);
      encoder.make_room();
      const unsigned to = static_cast<unsigned>(random.below(form.to_mask ? 8 : 32)),
                     second = form.sources == 2 ? static_cast<unsigned>(random.below(32)) : 0,
                     mask = random.chance(0.5) ? 1 + static_cast<unsigned>(random.below(7)) : 0;
      const bool zeroing = mask != 0 && !form.to_mask && random.chance(0.5);
      const Place source = random_place(random, real_bytes);
      const unsigned masks = mask | (zeroing ? Encoder::zeroing : 0);
      if (form.immediate < 0) encoder.evex(form.op, to, second, source, masks);
      else encoder.evex(form.op, to, second, source, masks, static_cast<unsigned>(form.immediate));
      std::string line = std::string(form.name) + " ";
      if (form.immediate >= 0) line += "$" + std::to_string(form.immediate) + ", ";
      line += text(source, real_bytes) + ", ";
      if (form.sources == 2) line += vector(second) + ", ";
      line += form.to_mask ? "%k" + std::to_string(to) : vector(to);
      if (mask != 0) line += "{%k" + std::to_string(mask) + "}";
      if (zeroing) line += "{z}";
      print(encoder, line);
    }
}

void print_mask_forms(Random& random) {
  const struct {
    unsigned code;
    const char* name;
    bool two;
  } forms[] = {{0x41, "kand", true}, {0x42, "kandn", true}, {0x44, "knot", false},
               {0x45, "kor", true},  {0x46, "kxnor", true}, {0x47, "kxor", true}};
  const auto k = [](unsigned number) { return "%k" + std::to_string(number); };
  for (const auto& form : forms)
    for (const int lanes : {8, 16})
      for (int i = 0; i < 6; ++i) {
        Encoder encoder(8);
        encoder.make_room();
        const unsigned to = static_cast<unsigned>(random.below(8)),
                       a = form.two ? static_cast<unsigned>(random.below(8)) : 0,
                       b = static_cast<unsigned>(random.below(8));
        encoder.mask_op(form.code, lanes, form.two, to, a, b);
        print(encoder, std::string(form.name) + (lanes == 8 ? "b " : "w ") + k(b) + ", " +
                           (form.two ? k(a) + ", " : "") + k(to));
      }
  for (unsigned mask = 0; mask < 8; ++mask) {
    Encoder load(8), store(8);
    load.make_room();
    store.make_room();
    load.load_mask(mask, Gpr::rdx, -8192);
    store.store_mask(mask, Gpr::rdx, 4096);
    print(load, "kmovq -8192(%rdx), " + k(mask));
    print(store, "kmovq " + k(mask) + ", 4096(%rdx)");
  }
}

}  // namespace
}  // namespace wengert::test

int main() {
  using namespace wengert::test;
  Random random(1);
  print_vector_forms(random, 8,
                     {{{1, 1, 1, 0x58}, "vaddpd", 2, -1, false},
                      {{1, 1, 1, 0x51}, "vsqrtpd", 1, -1, false},
                      {{2, 1, 1, 0xb8}, "vfmadd231pd", 2, -1, false},
                      {{2, 1, 1, 0x65}, "vblendmpd", 2, -1, false},
                      {{3, 1, 1, 0x09}, "vrndscalepd", 1, 9, false},
                      {{1, 1, 1, 0xc2}, "vcmppd", 2, 4, true},
                      {{3, 1, 1, 0x1f}, "vpcmpq", 2, 1, true},
                      {{1, 2, 1, 0xe6}, "vcvtqq2pd", 1, -1, false},
                      {{2, 1, 1, 0x77}, "vpermi2pd", 2, -1, false}});
  print_vector_forms(random, 4,
                     {{{1, 0, 0, 0x59}, "vmulps", 2, -1, false},
                      {{2, 1, 0, 0xa8}, "vfmadd213ps", 2, -1, false},
                      {{1, 2, 0, 0x5b}, "vcvttps2dq", 1, -1, false},
                      {{3, 1, 0, 0x26}, "vgetmantps", 1, 3, false},
                      {{1, 1, 0, 0xfe}, "vpaddd", 2, -1, false}});
  print_mask_forms(random);
}
