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
    default: break;
  }
  return "%rdi";
}

/// Of numbers and vectors, in bytes.
struct Sizes {
  std::size_t real, vector;
};

std::string vector(unsigned number, Sizes sizes) {
  return (sizes.vector == 64 ? "%zmm" : "%xmm") + std::to_string(number);
}

std::string text(const Place& place, Sizes sizes) {
  if (!place.memory) return vector(place.reg, sizes);
  std::string all = std::to_string(place.offset) + "(" + name(place.base) + ")";
  if (place.broadcast) all += "{1to" + std::to_string(sizes.vector / sizes.real) + "}";
  return all;
}

Place random_place(Random& random, Sizes sizes) {
  if (random.chance(0.4)) return Place::vector(static_cast<unsigned>(random.below(32)));
  const std::vector<Gpr> bases = {Gpr::rax, Gpr::rcx, Gpr::rdx, Gpr::rsi, Gpr::rdi};
  const Gpr base = random.of(bases);
  const bool broadcast = random.chance(0.5);
  const int unit = static_cast<int>(broadcast ? sizes.real : sizes.vector);
  // Around the ends of what a short displacement reaches, and where it doesn't divide.
  const std::vector<int> steps = {-100000, -129, -128, -127, -1, 0, 1, 126, 127, 128, 100000};
  const int offset = random.of(steps) * unit + (random.chance(0.2) ? 4 : 0);
  return broadcast ? Place::all_lanes(base, offset) : Place::at(base, offset);
}

void print(const Encoder& encoder, const std::string& line) {
  for (const std::uint8_t byte : encoder.bytes()) std::printf("%02x", byte);
  std::printf("\t%s\n", line.c_str());
}

void print_vector_forms(Random& random, Sizes sizes, const std::vector<Form>& forms) {
  for (const Form& form : forms)
    for (int k = 0; k < 20; ++k) {
      Encoder encoder(sizes.real, sizes.vector);
      encoder.make_room();
      const unsigned to = static_cast<unsigned>(random.below(form.to_mask ? 8 : 32)),
                     second = form.sources == 2 ? static_cast<unsigned>(random.below(32)) : 0,
                     mask = random.chance(0.5) ? 1 + static_cast<unsigned>(random.below(7)) : 0;
      const bool zeroing = mask != 0 && !form.to_mask && random.chance(0.5);
      const Place source = random_place(random, sizes);
      const unsigned masks = mask | (zeroing ? Encoder::zeroing : 0);
      if (form.immediate < 0) encoder.vector(form.op, to, second, source, masks);
      else encoder.vector(form.op, to, second, source, masks, static_cast<unsigned>(form.immediate));
      std::string line = (sizes.vector == 16 ? "{evex} " : "") + std::string(form.name) + " ";
      if (form.immediate >= 0) line += "$" + std::to_string(form.immediate) + ", ";
      line += text(source, sizes) + ", ";
      if (form.sources == 2) line += vector(second, sizes) + ", ";
      line += form.to_mask ? "%k" + std::to_string(to) : vector(to, sizes);
      if (mask != 0) line += "{%k" + std::to_string(mask) + "}";
      if (zeroing) line += "{z}";
      print(encoder, line);
    }
}

/// What differs from the other instructions of code for one sample.
void print_point_forms(Random& random) {
  const std::vector<Gpr> indices = {Gpr::rax, Gpr::r8, Gpr::r9, Gpr::r10, Gpr::r11};
  const std::vector<const char*> names = {"%rax", "%r8", "%r9", "%r10", "%r11"},
                                 halves = {"%eax", "%r8d", "%r9d", "%r10d", "%r11d"};
  for (int k = 0; k < 20; ++k)
    for (const std::size_t real_bytes : {8, 4}) {
      Encoder load(real_bytes, 16), item(real_bytes, 16), store(real_bytes, 16), number(real_bytes, 16);
      for (Encoder* encoder : {&load, &item, &store, &number}) encoder->make_room();
      const bool f64 = real_bytes == 8;
      const Opcode broadcast = f64 ? Opcode{1, 3, 1, 0x12} : Opcode{2, 1, 0, 0x18};
      const std::string name = f64 ? "{evex} vmovddup " : "{evex} vbroadcastss ";
      const unsigned reg = static_cast<unsigned>(random.below(32));
      const std::string xmm = "%xmm" + std::to_string(reg);
      const std::size_t index = static_cast<std::size_t>(random.below(indices.size()));
      const int offset = random.chance(0.1) ? 0 : static_cast<int>(random.below(600)) * 4 - 1200;
      const std::string at = std::to_string(offset) + "(%rdx", end = ")";
      load.vector_of_number(broadcast, reg, Place::all_lanes(Gpr::rdx, offset));
      print(load, name + at + end + ", " + xmm);
      item.vector_of_number(broadcast, reg, Place::item(Gpr::rdx, offset, indices[index]));
      print(item, name + at + ", " + names[index] + ", " + std::to_string(real_bytes) + end + ", " + xmm);
      store.vector_of_number({1, static_cast<std::uint8_t>(f64 ? 3 : 2), f64, 0x11}, reg,
                             Place::all_lanes(Gpr::rdx, offset));
      print(store, (f64 ? "{evex} vmovsd " : "{evex} vmovss ") + xmm + ", " + at + end);
      number.index_mod_16(indices[index], reg);
      print(number, (f64 ? "{evex} vmovq " + xmm + ", " + names[index] : "{evex} vmovd " + xmm + ", " + halves[index]) +
                        "; and $15, " + halves[index]);
    }
}

/// Registers of 128 bits of which there were 16 before AVX-512.
void print_short_form(Random& random, const Form& form) {
  for (int k = 0; k < 20; ++k) {
    Encoder encoder(8, 16);
    encoder.make_room();
    const unsigned to = static_cast<unsigned>(random.below(16)), from = static_cast<unsigned>(random.below(16)),
                   second = form.sources == 2 ? static_cast<unsigned>(random.below(16)) : 0;
    std::string line = std::string(form.name) + " ";
    if (form.immediate < 0) {
      encoder.vector(form.op, to, second, Place::vector(from));
    } else {
      encoder.vector(form.op, to, second, Place::vector(from), 0, static_cast<unsigned>(form.immediate));
      line += "$" + std::to_string(form.immediate) + ", ";
    }
    line += vector(from, {8, 16}) + ", " + (form.sources == 2 ? vector(second, {8, 16}) + ", " : "");
    print(encoder, line + vector(to, {8, 16}));
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
  const std::vector<Form> f64 = {
      {{1, 1, 1, 0x58}, "vaddpd", 2, -1, false},      {{1, 1, 1, 0x51}, "vsqrtpd", 1, -1, false},
      {{2, 1, 1, 0xb8}, "vfmadd231pd", 2, -1, false}, {{2, 1, 1, 0x65}, "vblendmpd", 2, -1, false},
      {{3, 1, 1, 0x09}, "vrndscalepd", 1, 9, false},  {{1, 1, 1, 0xc2}, "vcmppd", 2, 4, true},
      {{3, 1, 1, 0x1f}, "vpcmpq", 2, 1, true},        {{1, 2, 1, 0xe6}, "vcvtqq2pd", 1, -1, false}};
  const std::vector<Form> f32 = {{{1, 0, 0, 0x59}, "vmulps", 2, -1, false},
                                 {{2, 1, 0, 0xa8}, "vfmadd213ps", 2, -1, false},
                                 {{1, 2, 0, 0x5b}, "vcvttps2dq", 1, -1, false},
                                 {{3, 1, 0, 0x26}, "vgetmantps", 1, 3, false},
                                 {{1, 1, 0, 0xfe}, "vpaddd", 2, -1, false}};
  for (const std::size_t vector_bytes : {64, 16}) {
    print_vector_forms(random, {8, vector_bytes}, f64);
    print_vector_forms(random, {4, vector_bytes}, f32);
  }
  for (const Form& form : std::vector<Form>{{{1, 1, 1, 0x58, true}, "vaddpd", 2, -1, false},
                                            {{1, 1, 1, 0x51, true}, "vsqrtpd", 1, -1, false},
                                            {{2, 1, 1, 0xb8, true}, "vfmadd231pd", 2, -1, false},
                                            {{2, 1, 0, 0xa8, true}, "vfmadd213ps", 2, -1, false},
                                            {{3, 1, 0, 0x09, true}, "vroundpd", 1, 9, false}})
    print_short_form(random, form);
  print_vector_forms(random, {8, 64}, {{{2, 1, 1, 0x77}, "vpermi2pd", 2, -1, false}});
  print_point_forms(random);
  print_mask_forms(random);
}
