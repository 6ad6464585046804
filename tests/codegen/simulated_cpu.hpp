// A CPU in plain C++ that runs machine code lane by lane, whatever instructions the CPU of this machine has: those that
// codegen/encoder.hpp and codegen/assemble.cpp write. Others, and what a CPU would refuse, are exceptions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace wengert::test {

class SimulatedCpu {
 public:
  /// The function that begins with the first of these bytes.
  explicit SimulatedCpu(std::span<const std::uint8_t> code) : code_(code) {}

  /// Calls it as the system does, with pointers and sizes: a codegen::Function or codegen::PointFunction. What registers hold
  /// before is nothing that it could rely on; those that it has to give back as they were are looked at.
  template <class... Arguments>
  int call(Arguments... arguments) {
    return run({word(arguments)...});
  }
  /// By all calls.
  std::size_t instructions() const { return instructions_; }

 private:
  using Word = std::uint64_t;
  enum General { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9 };

  struct alignas(64) Vector {
    std::array<std::uint8_t, 64> bytes{};

    template <class T>
    T get(std::size_t k) const {
      T x;
      std::memcpy(&x, bytes.data() + k * sizeof(T), sizeof(T));
      return x;
    }
    template <class T>
    void set(std::size_t k, T x) {
      std::memcpy(bytes.data() + k * sizeof(T), &x, sizeof(T));
    }
  };

  /// What prefixes and operands say.
  struct Instruction {
    enum Form { legacy, vex, evex } form = legacy;
    unsigned map = 0, prefix = 0, code = 0;  // as Opcode has them (codegen/encoder.hpp)
    bool wide = false;
    unsigned bytes = 16;  // of a vector
    unsigned reg = 0, second = 0;
    unsigned source = 0;  // a register, unless
    bool memory = false;  // it is at
    Word address = 0;
    bool broadcast = false;
    unsigned mask = 0;  // of the write; 0: none
    bool zeroing = false;

    unsigned key() const { return map << 12 | prefix << 8 | code; }
  };
  static constexpr unsigned key(unsigned map, unsigned prefix, unsigned code) { return map << 12 | prefix << 8 | code; }
  /// Of register numbers, the bits that prefixes have.
  struct High {
    unsigned reg = 0, base = 0, index = 0, source = 0;
  };

  static Word word(std::size_t x) { return x; }
  static Word word(const void* x) { return reinterpret_cast<std::uintptr_t>(x); }

  int run(std::initializer_list<Word> arguments);
  void step();
  [[noreturn]] void refuse(const std::string& why) const;

  std::uint8_t byte();
  std::int32_t dword();
  void jump(std::int32_t distance);
  void read_vex(Instruction& i, unsigned first);
  void read_evex(Instruction& i);
  void read_operands(Instruction& i, const High& high, bool scaled);
  static unsigned short_unit(const Instruction& i);

  // General registers.
  void general(unsigned first);
  void two_bytes(const Instruction& i, const High& high);
  void arithmetic(unsigned what, const Instruction& i, bool to_reg, Word operand);
  Word load(const Instruction& i) const;
  void store(const Instruction& i, Word x);
  void push(Word x);
  Word pop();

  // Vectors and masks (simulated_vectors.cpp, simulated_moves.cpp).
  void vector(const Instruction& i);
  bool floats(const Instruction& i);
  bool integers(const Instruction& i);
  bool moves(const Instruction& i);
  bool halves(const Instruction& i);
  bool masks(const Instruction& i);

  bool active(const Instruction& i, std::size_t k) const { return i.mask == 0 || (masks_[i.mask] >> k & 1) != 0; }
  template <class T>
  Vector source(const Instruction& i) const;
  template <class T>
  void write(const Instruction& i, unsigned to, const Vector& result);
  template <class To, class T, class F>
  bool each(const Instruction& i, unsigned to, const F& f);
  template <class T, class F>
  bool compare(const Instruction& i, const F& holds);
  bool wide_by_prefix(const Instruction& i) const;
  template <class F>
  bool by_prefix(const Instruction& i, const F& f);
  template <class F>
  bool by_width(const Instruction& i, const F& f);
  template <class F>
  bool words_by_width(const Instruction& i, const F& f);

  std::span<const std::uint8_t> code_;
  std::size_t at_ = 0, first_ = 0;  // the next byte, and the instruction's first
  std::size_t instructions_ = 0;
  std::array<Word, 16> general_{};
  std::array<Vector, 32> vectors_{};
  std::array<Word, 8> masks_{};
  bool zero_ = false;  // the flag
  std::vector<Word> stack_ = std::vector<Word>(64);
};

}  // namespace wengert::test
