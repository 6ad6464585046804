// The simulated CPU: instructions that programs of the other tests don't come to, and what it refuses.
#include <array>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "codegen/assemble.hpp"
#include "codegen/executable_memory.hpp"
#include "tests/codegen/simulated_cpu.hpp"
#include "tests/random.hpp"

namespace wengert::test {
namespace {

using Code = std::vector<std::uint8_t>;

/// A loop over three columns that are read by a subroutine with a loop of its own.
const Code& loops() {
  static const Code code = {0xeb, 0x12,                                      //     jmp start
                            0x45, 0x31, 0xff,                                // sum: xor r15d, r15d
                            0x46, 0x03, 0x34, 0xb8,                          // 1:  add r14d, [rax + r15*4]
                            0x41, 0x83, 0xc7, 0x01,                          //     add r15d, 1
                            0x41, 0x83, 0xff, 0x08,                          //     cmp r15d, 8
                            0x75, 0xf2,                                      //     jne 1
                            0xc3,                                            //     ret
                            0x53, 0x55,                                      // start: push rbx, rbp
                            0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57,  //     push r12, r13, r14, r15
                            0x45, 0x31, 0xf6,                                //     xor r14d, r14d
                            0x45, 0x31, 0xe4,                                //     xor r12d, r12d
                            0x4a, 0x8b, 0x84, 0xe7, 0x00, 0xff, 0xff, 0xff,  // 2:  mov rax, [rdi + r12*8 - 0x100]
                            0x4c, 0x01, 0xc8,                                //     add rax, r9
                            0xe8, 0xce, 0xff, 0xff, 0xff,                    //     call sum
                            0x4a, 0x8d, 0x5c, 0x60, 0x40,                    //     lea rbx, [rax + r12*2 + 0x40]
                            0x4a, 0x89, 0x1c, 0xe2,                          //     mov [rdx + r12*8], rbx
                            0x4a, 0x29, 0x04, 0xe2,                          //     sub [rdx + r12*8], rax
                            0x0f, 0x18, 0x88, 0x00, 0x04, 0x00, 0x00,        //     prefetcht0 [rax + 0x400]
                            0x4c, 0x89, 0xe5,                                //     mov rbp, r12
                            0x83, 0xe5, 0x01,                                //     and ebp, 1
                            0x85, 0xed,                                      //     test ebp, ebp
                            0x74, 0x07,                                      //     jz 3
                            0x41, 0x81, 0xc6, 0xe8, 0x03, 0x00, 0x00,        //     add r14d, 1000
                            0x49, 0xff, 0xc4,                                // 3:  inc r12
                            0x49, 0x83, 0xfc, 0x03,                          //     cmp r12, 3
                            0x75, 0xc2,                                      //     jne 2
                            0xbd, 0x05, 0x00, 0x00, 0x00,                    //     mov ebp, 5
                            0x41, 0x01, 0xee,                                // 4:  add r14d, ebp
                            0x48, 0xff, 0xcd,                                //     dec rbp
                            0x75, 0xf8,                                      //     jnz 4
                            0x31, 0xc0,                                      //     xor eax, eax
                            0x41, 0x39, 0xf6,                                //     cmp r14d, esi
                            0x0f, 0x94, 0xc0,                                //     sete al
                            0x44, 0x89, 0x72, 0x18,                          //     mov [rdx + 24], r14d
                            0x41, 0x81, 0xc6, 0x45, 0x23, 0x01, 0x00,        //     add r14d, 0x12345
                            0x46, 0x89, 0x74, 0xa2, 0x10,                    //     mov [rdx + r12*4 + 16], r14d
                            0x83, 0xc8, 0x02,                                //     or eax, 2
                            0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c,  //     pop r15, r14, r13, r12
                            0x5d, 0x5b,                                      //     pop rbp, rbx
                            0xc5, 0xf8, 0x77, 0xc3};                         //     vzeroupper, ret
  return code;
}

/// What `run` makes of three columns of numbers, as the code above has it.
template <class Run>
void check_loops(const Run& run) {
  std::array<std::array<std::uint32_t, 16>, 3> columns{};
  std::uint32_t sum = 1000 + 5 + 4 + 3 + 2 + 1;
  Random random(1);
  for (auto& column : columns)
    for (std::size_t k = 0; k < 16; ++k) {
      column[k] = static_cast<std::uint32_t>(random.bits());
      if (k >= 8) sum += column[k];  // from 32 bytes on, which are in r9
    }
  const void* const pointers[33] = {columns[0].data(), columns[1].data(), columns[2].data()};
  std::array<std::uint64_t, 4> out{};
  const std::uint32_t guesses[] = {sum, sum + 1};
  for (const std::uint32_t guess : guesses) {
    BOOST_TEST(run(pointers + 32, guess, out.data(), 32) == (guess == sum ? 3 : 2));
    for (std::uint64_t k = 0; k < 3; ++k) BOOST_TEST(out[k] == 2 * k + 0x40);
    BOOST_TEST(out[3] == (std::uint64_t(sum + 0x12345) << 32 | sum));
  }
}

/// Expects an exception with a text.
void refuses(const Code& code, const std::string& why) {
  BOOST_CHECK_EXCEPTION(SimulatedCpu(code).call(), std::runtime_error, [&](const std::runtime_error& error) {
    const bool says = std::string(error.what()).find(why) != std::string::npos;
    if (!says) BOOST_TEST_MESSAGE(error.what());
    return says;
  });
}

/// All operations on masks, of two vectors, and a requirement of such a mask.
template <class Real>
void mask_operations() {
  using codegen::Do;
  using codegen::Table;
  using codegen::Value;
  codegen::Graph graph({&codegen::avx512, false, 2}, sizeof(Real));
  const Value a = graph.input(0, Table::inputs), b = graph.input(1, Table::inputs), c = graph.input(2, Table::inputs),
              m = graph.compare(codegen::Comparison::less, a, b), n = graph.compare(codegen::Comparison::less, b, c);
  const Value of_masks[] = {graph.binary(Do::mask_and, m, n), graph.binary(Do::mask_or, m, n),
                            graph.binary(Do::mask_xor, m, n), graph.mask_not(m)};
  for (std::uint32_t k = 0; k < 4; ++k) graph.output(graph.ternary(Do::blend, of_masks[k], a, c), 3 + k, Table::values);
  graph.refuse(graph.binary(Do::mask_and, n, graph.compare(codegen::Comparison::less_equal, c, a)));
  graph.repeat_for_second_vector();
  const codegen::Assembly assembly = codegen::assemble(graph);
  SimulatedCpu cpu({assembly.code.data(), assembly.code.size()});
  constexpr std::size_t lanes = 128 / sizeof(Real);
  Random random(sizeof(Real));
  int well = 0;
  for (int round = 0; round < 500; ++round) {
    Real x[7][lanes];
    for (std::size_t i = 0; i < 3; ++i)
      for (Real& number : x[i]) number = static_cast<Real>(random.below(10));
    if (random.chance(0.9))
      for (std::size_t e = 0; e < lanes; ++e)
        if (x[2][e] <= x[0][e]) x[2][e] = x[1][e];
    bool expected = true;
    for (std::size_t e = 0; e < lanes; ++e) expected &= !(x[1][e] < x[2][e] && x[2][e] <= x[0][e]);
    const void* pointers[7];
    for (std::size_t i = 0; i < 7; ++i) pointers[i] = x[i];
    std::vector<std::uint8_t> spills(assembly.spill_bytes + 1);
    const int result = cpu.call(pointers, nullptr, spills.data() + codegen::spill_bias,
                                assembly.pool.data() + codegen::bias_of_numbers(sizeof(Real)), 1);
    BOOST_TEST_REQUIRE(result == int(expected));
    well += result;
    for (std::size_t e = 0; e < lanes; ++e) {
      const bool p = x[0][e] < x[1][e], q = x[1][e] < x[2][e];
      const bool chosen[] = {p && q, p || q, p != q, !p};
      for (std::size_t k = 0; k < 4; ++k) BOOST_TEST_REQUIRE(x[3 + k][e] == (chosen[k] ? x[0][e] : x[2][e]));
    }
  }
  BOOST_TEST(well > 100);
  BOOST_TEST(well < 490);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(instructions)

BOOST_AUTO_TEST_CASE(of_general_registers) {
  check_loops([](const void* pointers, std::size_t guess, void* out, std::size_t r9) {
    return SimulatedCpu(loops()).call(pointers, guess, out, nullptr, 0, r9);
  });
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx")) return;  // vzeroupper
  const codegen::ExecutableMemory memory(loops());
  BOOST_TEST_REQUIRE(bool(memory));
  using Function = int (*)(const void*, std::size_t, void*, const void*, std::size_t, std::size_t);
  const auto function = reinterpret_cast<Function>(reinterpret_cast<std::uintptr_t>(memory.data()));
  check_loops([&](const void* pointers, std::size_t guess, void* out, std::size_t r9) {
    return function(pointers, guess, out, nullptr, 0, r9);
  });
#endif
}

BOOST_AUTO_TEST_CASE(with_an_index) {
  const Code code = {
      0x41, 0x54, 0x41, 0x55,                                      // push r12, r13
      0x41, 0xbc, 0x02, 0x00, 0x00, 0x00,                          // mov r12d, 2
      0x41, 0xbd, 0x01, 0x00, 0x00, 0x00,                          // mov r13d, 1
      0xb8, 0x5a, 0x00, 0x00, 0x00,                                // mov eax, 0x5a
      0xc5, 0xf8, 0x92, 0xc8,                                      // kmovw k1, eax
      0xc4, 0xa1, 0xf8, 0x91, 0x8c, 0xe2, 0x00, 0x01, 0x00, 0x00,  // kmovq [rdx + r12*8 + 0x100], k1
      0xc5, 0xf9, 0x44, 0xc9,                                      // knotb k1, k1
      0xc4, 0xa1, 0xf8, 0x90, 0x94, 0xe2, 0x00, 0x01, 0x00, 0x00,  // kmovq k2, [rdx + r12*8 + 0x100]
      0x62, 0xa1, 0xfd, 0x48, 0x10, 0x4c, 0xe1, 0x01,              // vmovupd zmm17, [rcx + r12*8 + 0x40]
      0x62, 0xa1, 0xf5, 0xd2, 0x58, 0x4c, 0xe9, 0x01,  // vaddpd zmm17{k2}{z}, zmm17, [rcx + r13*8 + 8]{1to8}
      0x62, 0xa1, 0xfd, 0x48, 0x11, 0x8c, 0xea, 0x78, 0,    0,    0,  // vmovupd [rdx + r13*8 + 0x78], zmm17
      0xc5, 0xf9, 0x93, 0xc1,                                         // kmovb eax, k1
      0x41, 0x5d, 0x41, 0x5c,                                         // pop r13, r12
      0xc5, 0xf8, 0x77, 0xc3};                                        // vzeroupper, ret
  std::array<double, 18> in;
  for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<double>(k * k);
  std::array<double, 35> out{};
  BOOST_TEST(SimulatedCpu(code).call(nullptr, nullptr, out.data(), in.data()) == 0xa5);
  BOOST_TEST(std::bit_cast<std::uint64_t>(out[34]) == 0x5au);
  for (std::size_t k = 0; k < 8; ++k) BOOST_TEST(out[16 + k] == (0x5a >> k & 1 ? in[10 + k] + in[2] : 0));
}

BOOST_AUTO_TEST_CASE(on_masks) {
  mask_operations<double>();
  mask_operations<float>();
}

BOOST_AUTO_TEST_CASE(that_are_refused) {
  refuses({0x90}, "at byte 0: unknown instruction: 90");
  refuses({0x31, 0xc0}, "past the end of the code");
  refuses({0xbb, 1, 0, 0, 0, 0xc3}, "register 3 is not given back");
  refuses({0xe8, 0xfb, 0xff, 0xff, 0xff}, "the stack is full");
  refuses({0xeb, 0x10}, "a jump out of the code");
  refuses({0x62, 0xf1, 0x7d, 0x48, 0x58, 0xc0}, "W doesn't go with the prefix");  // vaddpd
  refuses({0x62, 0xf1, 0xfd, 0xc8, 0x58, 0xc0}, "bits of the prefix");            // zeroing without a mask
  refuses({0x62, 0xf1, 0xfd, 0x58, 0x58, 0xc0}, "a rounding of its own");         // vaddpd with {rn-sae}
  refuses({0x31, 0xc0, 0x62, 0xf2, 0xfd, 0x48, 0x4c, 0xc0}, "at byte 2: unknown instruction: 62 f2");  // vrcp14pd
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace wengert::test
