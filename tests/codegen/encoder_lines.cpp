// Prints instructions as the encoder makes them, a line each: the bytes in hex, a tab, the text for an assembler (AT&T).
// encoder.py compares the bytes with the assembler's.
#include <cstdio>
#include <string>
#include <vector>

#include "codegen/opcodes.hpp"
#include "tests/random.hpp"

namespace wengert::test {
namespace {

using codegen::Do;
using codegen::Encoder;
using codegen::Gpr;
using codegen::Opcode;
using codegen::Opcodes;
using codegen::Place;
using codegen::Shape;
using codegen::Vex;

const char* name(Gpr base) {
  switch (base) {
    case Gpr::rax: return "%rax";
    case Gpr::rcx: return "%rcx";
    case Gpr::rdx: return "%rdx";
    case Gpr::rbx: return "%rbx";
    case Gpr::rbp: return "%rbp";
    case Gpr::rsi: return "%rsi";
    case Gpr::r8: return "%r8";
    case Gpr::r9: return "%r9";
    case Gpr::r10: return "%r10";
    case Gpr::r11: return "%r11";
    case Gpr::r12: return "%r12";
    case Gpr::r13: return "%r13";
    case Gpr::r14: return "%r14";
    case Gpr::r15: return "%r15";
    default: return "%rdi";
  }
}

void print(const Encoder& encoder, const std::string& line) {
  for (const std::uint8_t byte : encoder.bytes()) std::printf("%02x", byte);
  std::printf("\t%s\n", line.c_str());
}

/// An instruction on vectors.
struct Form {
  Opcode op;
  std::string name, vex_name;  // with an EVEX prefix and with a VEX prefix; empty: there is none
  int sources;                 // vectors: the last may be memory
  enum Kind { plain, compare, blend, shift, moved, only_read } kind = plain;
  int immediate = -1;      // -1: none
  unsigned extension = 0;  // of a shift's opcode
};

/// The lines of code of one shape, for numbers of one size.
class Lines {
 public:
  Lines(Random& random, const Shape& shape, std::size_t real_bytes)
      : random_(random), shape_(shape), real_bytes_(real_bytes), f64_(real_bytes == 8), opcodes_(shape, real_bytes) {}

  void print_all() const {
    for (const Form& form : forms())
      for (int k = 0; k < 20; ++k) print_form(form);
    for (int k = 0; k < 20; ++k) print_numbers();
  }

 private:
  bool evex() const { return shape_.target->evex; }
  unsigned any_register() const { return static_cast<unsigned>(random_.below(shape_.target->registers)); }
  std::string vector(unsigned number) const {
    const std::size_t bytes = shape_.vector_bytes();
    return (bytes == 64 ? "%zmm" : bytes == 32 ? "%ymm" : "%xmm") + std::to_string(number);
  }
  std::string text(const Place& place) const {
    if (!place.memory) return vector(place.reg);
    const std::string all = std::to_string(place.offset) + "(" + name(place.base) + ")";
    return place.broadcast ? all + "{1to" + std::to_string(shape_.vector_bytes() / real_bytes_) + "}" : all;
  }
  Place random_place() const {
    if (random_.chance(0.4)) return Place::vector(any_register());
    const std::vector<Gpr> bases = {Gpr::rax, Gpr::rcx, Gpr::rdx, Gpr::rsi, Gpr::rdi, Gpr::r8, Gpr::r9};
    const Gpr base = random_.of(bases);
    const bool broadcast = evex() && random_.chance(0.5);
    const int unit = static_cast<int>(!evex() ? 1 : broadcast ? real_bytes_ : shape_.vector_bytes());
    // Around the ends of what a short displacement reaches, and where it doesn't divide.
    const std::vector<int> steps = {-100000, -129, -128, -127, -1, 0, 1, 126, 127, 128, 100000};
    const int offset = random_.of(steps) * unit + (random_.chance(0.2) ? 4 : 0);
    return broadcast ? Place::all_lanes(base, offset) : Place::at(base, offset);
  }

  /// All instructions on vectors that code has.
  std::vector<Form> forms() const {
    const std::string p = f64_ ? "pd" : "ps", i = f64_ ? "q" : "d";
    std::vector<Form> all;
    const auto both = [&](Do what, const std::string& name, int sources) {
      all.push_back({opcodes_[what], name, name, sources});
    };
    both(Do::add, "vadd" + p, 2);
    both(Do::sub, "vsub" + p, 2);
    both(Do::mul, "vmul" + p, 2);
    both(Do::div, "vdiv" + p, 2);
    both(Do::max, "vmax" + p, 2);
    both(Do::min, "vmin" + p, 2);
    both(Do::sqrt, "vsqrt" + p, 1);
    both(Do::add_int, "vpadd" + i, 2);
    both(Do::sub_int, "vpsub" + i, 2);
    all.push_back({opcodes_[Do::bit_and], "vpand" + i, "vpand", 2});
    all.push_back({opcodes_[Do::bit_or], "vpor" + i, "vpor", 2});
    all.push_back({opcodes_[Do::bit_xor], "vpxor" + i, "vpxor", 2});
    all.push_back({opcodes_[Do::round], "vrndscale" + p, "vround" + p, 1, Form::plain, 9});
    all.push_back({opcodes_[Do::shift_left], "vpsll" + i, "vpsll" + i, 1, Form::shift, 20, 6});
    all.push_back({opcodes_[Do::shift_right], "vpsrl" + i, "vpsrl" + i, 1, Form::shift, 20, 2});
    all.push_back({opcodes_.fma(0x98), "vfmadd132" + p, "vfmadd132" + p, 2});
    all.push_back({opcodes_.fma(0xa8), "vfmadd213" + p, "vfmadd213" + p, 2});
    all.push_back({opcodes_.fma(0xb8), "vfmadd231" + p, "vfmadd231" + p, 2});
    all.push_back({opcodes_.copy(), "vmova" + p, "vmova" + p, 1, Form::moved});
    all.push_back({opcodes_.load(), "vmovu" + p, "vmovu" + p, 1, Form::moved});
    all.push_back({opcodes_[Do::compare], "vcmp" + p, "vcmp" + p, 2, Form::compare, 4});
    all.push_back({opcodes_[Do::blend], "vblendm" + p, "vblendv" + p, 2, Form::blend});
    if (!f64_) {
      both(Do::to_int, "vcvttps2dq", 1);
      both(Do::to_real, "vcvtdq2ps", 1);
      all.push_back({opcodes_[Do::shift_right_signed], "vpsrad", "vpsrad", 1, Form::shift, 20, 4});
    }
    const auto evex_alone = [&](Do what, const std::string& name, int sources) {
      if (evex()) all.push_back({opcodes_[what], name, "", sources});
    };
    evex_alone(Do::scale, "vscalef" + p, 2);
    evex_alone(Do::exponent, "vgetexp" + p, 1);
    if (evex()) {
      all.push_back({opcodes_[Do::mantissa], "vgetmant" + p, "", 1, Form::plain, 3});
      all.push_back({opcodes_[Do::compare_int], "vpcmp" + i, "", 2, Form::compare, 1});
      if (f64_) all.push_back({opcodes_[Do::shift_right_signed], "vpsraq", "", 1, Form::shift, 20, 4});
      if (f64_) evex_alone(Do::to_int, "vcvttpd2qq", 1), evex_alone(Do::to_real, "vcvtqq2pd", 1);
      if (!shape_.point) evex_alone(Do::lookup, f64_ ? "vpermi2pd" : "vpermps", 2);
    } else {
      const auto vex_alone = [&](Opcode op, const std::string& name, int sources, Form::Kind kind = Form::plain) {
        all.push_back({op, "", name, sources, kind});
      };
      if (!shape_.point) vex_alone(opcodes_[Do::permute], "vpermps", 2);
      vex_alone(opcodes_[Do::greater_int], "vpcmpgt" + i, 2);
      vex_alone(opcodes_[Do::equal_int], "vpcmpeq" + i, 2);
      vex_alone(Opcodes::test, "vptest", 1, Form::only_read);
    }
    return all;
  }

  void print_form(const Form& form) const {
    Encoder encoder(shape_, real_bytes_);
    encoder.make_room();
    const bool to_mask = form.kind == Form::compare && shape_.target->mask_registers;
    const unsigned to = to_mask ? static_cast<unsigned>(random_.below(8)) : any_register(),
                   second = form.sources == 2 ? any_register() : 0;
    Place source = random_place();
    // What can't be: shifts of memory with VEX, moves of one number to all lanes.
    if (form.kind == Form::shift && !evex()) source = Place::vector(any_register());
    if (form.kind == Form::moved) source.broadcast = false;
    unsigned mask = evex() && form.kind != Form::moved && random_.chance(0.5) ? 1 + unsigned(random_.below(7)) : 0;
    const bool zeroing = mask != 0 && !to_mask && form.kind != Form::blend && random_.chance(0.5);
    const bool vex = !evex() || (shape_.vector_bytes() == 16 && form.op.vex != Vex::none && mask == 0 &&
                                 !source.memory && to < 16 && second < 16 && source.reg < 16);
    unsigned immediate = static_cast<unsigned>(form.immediate);
    std::string line = vex ? "{load} " : shape_.point ? "{evex} " : "";  // the operands as given
    line += (vex ? form.vex_name : form.name) + " ";
    if (form.immediate >= 0) line += "$" + std::to_string(form.immediate) + ", ";
    if (form.kind == Form::blend && !evex()) {
      const unsigned chosen_by = any_register();
      immediate = chosen_by << 4;
      line += vector(chosen_by) + ", ";
    }
    line += text(source) + ", ";
    if (form.sources == 2) line += vector(second) + ", ";
    line += to_mask ? "%k" + std::to_string(to) : vector(to);
    if (mask != 0) line += "{%k" + std::to_string(mask) + "}";
    if (zeroing) line += "{z}";

    const unsigned masks = mask | (zeroing ? Encoder::zeroing : 0),
                   reg = form.kind == Form::shift ? form.extension : to, other = form.kind == Form::shift ? to : second;
    if (immediate == static_cast<unsigned>(-1)) encoder.vector(form.op, reg, other, source, masks);
    else encoder.vector(form.op, reg, other, source, masks, immediate);
    print(encoder, line);
  }

  /// Numbers in memory, one by one.
  void print_numbers() const {
    const std::string prefix = !evex() || !shape_.point ? "" : "{evex} ", real = f64_ ? "sd" : "ss";
    const unsigned reg = any_register();
    const int offset = random_.chance(0.1) ? 0 : static_cast<int>(random_.below(600)) * 4 - 1200;
    const std::string at = std::to_string(offset) + "(%rdx", end = ")",
                      load = prefix + (f64_ && shape_.point ? "vmovddup " : "vbroadcast" + real + " ");
    const auto line = [&](const auto& encode, const std::string& what) {
      Encoder encoder(shape_, real_bytes_);
      encoder.make_room();
      encode(encoder);
      print(encoder, what);
    };
    line([&](Encoder& e) { e.vector_of_number(opcodes_.broadcast(), reg, Place::all_lanes(Gpr::rdx, offset)); },
         load + at + end + ", " + vector(reg));
    const Place from = random_place();
    if (from.memory && !from.broadcast)
      line([&](Encoder& e) { e.vector(opcodes_.store(), reg, 0, from); },
           prefix + "vmovu" + (f64_ ? "pd " : "ps ") + vector(reg) + ", " + text(from));
    Place ahead = Place::at(Gpr::rax, offset);
    line([&](Encoder& e) { e.prefetch(ahead); }, "prefetcht0 " + std::to_string(offset) + "(%rax)");
    ahead.index = Gpr::r9;
    line([&](Encoder& e) { e.prefetch(ahead); },
         "prefetcht0 " + std::to_string(offset) + "(%rax, %r9, " + std::to_string(real_bytes_) + ")");
    if (!shape_.point) print_loops(line, reg, offset);
    if (!shape_.point && !evex() && f64_) print_lookups(line, reg, offset);
    if (!shape_.point) return;
    // Code for one sample has these too.
    const std::vector<Gpr> indices = {Gpr::rax, Gpr::r8, Gpr::r9, Gpr::r10, Gpr::r11};
    const std::vector<std::string> halves = {"%eax", "%r8d", "%r9d", "%r10d", "%r11d"};
    const std::size_t k = static_cast<std::size_t>(random_.below(indices.size()));
    const std::string index = name(indices[k]);
    line([&](Encoder& e) { e.vector_of_number(opcodes_.broadcast(), reg, Place::item(Gpr::rdx, offset, indices[k])); },
         load + at + ", " + index + ", " + std::to_string(real_bytes_) + end + ", " + vector(reg));
    line([&](Encoder& e) { e.vector_of_number(opcodes_.store_number(), reg, Place::all_lanes(Gpr::rdx, offset)); },
         prefix + "vmov" + real + " " + vector(reg) + ", " + at + end);
    line([&](Encoder& e) { e.index_mod_16(indices[k], reg); }, std::string(f64_ ? "vmovq " : "vmovd ") + vector(reg) +
                                                                   ", " + (f64_ ? index : halves[k]) + "; and $15, " +
                                                                   halves[k]);
  }

  /// Steps from iteration to iteration.
  template <class Line>
  void print_loops(const Line& line, unsigned reg, std::int32_t offset) const {
    for (const Gpr step : {Gpr::r12, Gpr::r13, Gpr::r14, Gpr::r15}) {
      const std::string by = name(step), number = "$" + std::to_string(offset + 100'000) + ", " + by;
      line([&](Encoder& e) { e.clear(step); }, "xor " + by + ", " + by);
      line([&](Encoder& e) { e.add(step, offset + 100'000); }, "add " + number);
      line([&](Encoder& e) { e.compare(step, offset + 100'000); }, "cmp " + number);
      Place there = Place::at(Gpr::rdi, offset);
      line([&](Encoder& e) { e.load_pointer(there); }, "mov " + std::to_string(offset) + "(%rdi), %rax");
      there.index = step;
      line([&](Encoder& e) { e.load_pointer(there); },
           "mov " + std::to_string(offset) + "(%rdi, " + by + ", " + std::to_string(real_bytes_) + "), %rax");
      there.base = Gpr::rdx;
      line([&](Encoder& e) { e.vector(opcodes_.load(), reg, 0, there); },
           (evex() ? "{evex} " : "") + std::string("vmovu") + (f64_ ? "pd " : "ps ") + std::to_string(offset) +
               "(%rdx, " + by + ", " + std::to_string(real_bytes_) + "), " + vector(reg));
    }
  }

  template <class Line>
  void print_lookups(const Line& line, unsigned reg, int offset) const {
    const std::vector<Gpr> all = {Gpr::rbx, Gpr::rbp, Gpr::r10, Gpr::r11, Gpr::r12, Gpr::r13, Gpr::r14, Gpr::r15};
    Gpr in[4];
    for (Gpr& index : in) index = random_.of(all);
    const unsigned other = any_register();
    const auto half = [](unsigned number) { return "%xmm" + std::to_string(number); };
    const auto indices_of = [&](unsigned from, const Gpr* to) {
      return "vmovq " + half(from) + ", " + name(to[0]) + "; vpextrq $1, " + half(from) + ", " + name(to[1]);
    };
    line([&](Encoder& e) { e.indices(in, reg, other); }, indices_of(reg, in) + "; vextracti128 $1, " + vector(reg) +
                                                             ", " + half(other) + "; " + indices_of(other, in + 2));
    const auto items_to = [&](unsigned to, const Gpr* index) {
      const std::string at = " " + std::to_string(offset) + "(%rcx, ";
      return "vmovsd" + at + name(index[0]) + ", 8), " + half(to) + "; vmovhpd" + at + name(index[1]) + ", 8), " +
             half(to) + ", " + half(to);
    };
    line([&](Encoder& e) { e.items(reg, other, Gpr::rcx, offset, in); },
         items_to(reg, in) + "; " + items_to(other, in + 2) + "; vinsertf128 $1, " + half(other) + ", " + vector(reg) +
             ", " + vector(reg));
  }

  Random& random_;
  const Shape shape_;
  const std::size_t real_bytes_;
  const bool f64_;
  const Opcodes opcodes_;
};

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
        Encoder encoder({}, 8);
        encoder.make_room();
        const unsigned to = static_cast<unsigned>(random.below(8)),
                       a = form.two ? static_cast<unsigned>(random.below(8)) : 0,
                       b = static_cast<unsigned>(random.below(8));
        encoder.mask_op(form.code, lanes, form.two, to, a, b);
        print(encoder, std::string(form.name) + (lanes == 8 ? "b " : "w ") + k(b) + ", " +
                           (form.two ? k(a) + ", " : "") + k(to));
      }
  for (unsigned mask = 0; mask < 8; ++mask) {
    Encoder load({}, 8), store({}, 8);
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
  for (const wengert::codegen::Target* target : {&wengert::codegen::avx512, &wengert::codegen::avx2})
    for (const bool point : {false, true})
      for (const std::size_t real_bytes : {8, 4}) Lines(random, {target, point, 1}, real_bytes).print_all();
  print_mask_forms(random);
}
