// Coefficients of the normal distribution function and of its inverse.
//
// Each is c0 (1 + c1 d + c2 d^2 + ...) in each of 16 pieces; d is the distance of the argument from a point in the middle
// of the piece. As in erf_table.hpp these points were searched for, so that the function is, there, c0 to better than 2^-7
// of its last place. Relative error, after rounding of the coefficients one after the other with the others fitted anew
// (weighted least squares at Chebyshev nodes in 200 bits): 2^-54.3 (double), 2^-27.6 (float).
#pragma once

#include "kernels/isa.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// `tail`: e^(x^2/2) times the probability beyond x >= 0; pieces are quarters of octaves of x + `tail_shift`. `icdf`: F(w) in
/// normal_icdf(p) = q F(w), q = p - 1/2, w = -log(4p(1-p)); pieces are those of w + `icdf_shift` with one exponent and the
/// same first `icdf_bits` of the mantissa. Numbered mod 16 by these bits; row k holds c_k.
template <class Real>
struct NormalTable;

template <>
struct NormalTable<double> {
  static constexpr double tail_shift = 3;
  alignas(64) static constexpr double tail_middle[16] = {
      0x1.07ffffff26p5, 0x1.47ffffff3ep5, 0x1.fffffd7cp-3, 0x1.7fffff9f8p-1, 0x1.7ffffffp0,   0x1.3ffffffa6p1,
      0x1.bffffffe6p1,  0x1.1fffffe31p2,  0x1.7ffffffb1p2, 0x1.ffffffffdp2,  0x1.400000089p3, 0x1.800000037p3,
      0x1.e00000158p3,  0x1.3000000164p4, 0x1.6ffffffd7p4, 0x1.b00000029p4};
  alignas(64) static constexpr double tail[15][16] = {
      {0x1.8bc65b45213fep-7, 0x1.3ea732bddc8b8p-7, 0x1.a7f80875bf93ap-2, 0x1.3370239d53e91p-2, 0x1.a57055a2172ddp-3,
       0x1.217252358afd9p-3, 0x1.b396f9d08208ep-4, 0x1.5b5acd5b2cedfp-4, 0x1.095608caefe1bp-4, 0x1.9269722f756f1p-5,
       0x1.43a38adbf02cdp-5, 0x1.0e7dcd1b2f8cp-5, 0x1.b1d706bdcaa56p-6, 0x1.5711aff2dabbbp-6, 0x1.1ba6c6d597e64p-6,
       0x1.e381b9394bea7p-7},
      {-0x1.ef93c2a7f67bbp-6, -0x1.8f22bea066c5ep-6, -0x1.6d56f2ad5a605p-1, -0x1.285595f6d375bp-1,
       -0x1.c134965a276fcp-2, -0x1.4a7d9cbfafb12p-2, -0x1.016cb634fee6ap-2, -0x1.a272717f9cf41p-3,
       -0x1.4492871fd2598p-3, -0x1.f11fb08d79433p-4, -0x1.91ca35f2e4ca5p-4, -0x1.50bfcf9cd2339p-4, -0x1.0eb10f8a32dep-4,
       -0x1.accd37bc5b28p-5, -0x1.62d701e6db1d7p-5, -0x1.2e94a6839fd9ap-5},
      {0x1.df3e88dfa8b54p-11, 0x1.36f78755959e9p-11, 0x1.a4aa43c78b3f3p-2, 0x1.21bfcfbebb894p-2, 0x1.5e311e94d8217p-3,
       0x1.8b8bf05e9d949p-4, 0x1.ec0e092721e83p-5, 0x1.49fa03fde1e8cp-5, 0x1.9243556870daep-6, 0x1.dc09ee56aafa4p-7,
       0x1.3867905e35f65p-7, 0x1.b812240fc7d37p-8, 0x1.1d00b18930475p-8, 0x1.6626e6ffb98d5p-9, 0x1.eaed47b24caf3p-10,
       0x1.6526fedae3d5ap-10},
      {-0x1.cf075936247d3p-16, -0x1.e44349c73292bp-17, -0x1.a102389e1101bp-3, -0x1.f479c0719e461p-4,
       -0x1.f17f53e3e66a6p-5, -0x1.bc20cd84c8dbap-6, -0x1.c19b6cdc55199p-7, -0x1.f7b736f87afcp-8, -0x1.e800971d3894ep-9,
       -0x1.c1d02f3f9336dp-10, -0x1.e175931d0fcf9p-11, -0x1.1db36d0153a4ap-11, -0x1.2acdaf349af6p-12,
       -0x1.2a57239440b93p-13, -0x1.52f9961b54c1dp-14, -0x1.a4ff4c32af4a7p-15},
      {0x1.bef4e15cac4e9p-21, 0x1.78d8256e17fa8p-22, 0x1.7089fcf559e7bp-4, 0x1.87d1f78205b29p-5, 0x1.4742be4e4ff3dp-6,
       0x1.d7ddbfc204cd2p-8, 0x1.8a98279f13e21p-9, 0x1.7517a974a8c04p-10, 0x1.221720b9c8542p-11, 0x1.a39bf1741a603p-13,
       0x1.6fc28c7fd79a3p-14, 0x1.70a0113e892f4p-15, 0x1.37f74ed483fb6p-16, 0x1.efb65f06ed18dp-18,
       0x1.d33ff73384851p-19, 0x1.ef968e0497d26p-20},
      {-0x1.af0d7341e2052p-26, -0x1.2514a4ca11ca4p-27, -0x1.28c0c7610bbfbp-5, -0x1.1ad59c9e26df8p-6,
       -0x1.93486eba5c14ap-8, -0x1.dd7a45690348fp-10, -0x1.4de0ed6dd7becp-11, -0x1.0cc1e7fdafbfep-12,
       -0x1.5258f38503a67p-14, -0x1.829cb0957aee1p-16, -0x1.1684f8d94d88fp-17, -0x1.d8accffd6542bp-19,
       -0x1.445dd9aa118d5p-20, -0x1.9abe0f8493df6p-22, -0x1.4171c6a8e1eccp-23, -0x1.234e8b54adc39p-24},
      {0x1.9f5702ae8c24bp-31, 0x1.c79a1d489d3d1p-33, 0x1.b9ed3049f7227p-7, 0x1.7d027bd71c318p-8, 0x1.d5698cd1e6ee6p-10,
       0x1.ce838bb9b7c1ap-12, 0x1.113394ff0578p-13, 0x1.7948186effdf4p-15, 0x1.83846bd8980bap-17, 0x1.5ff8094fb53dap-19,
       0x1.a25c734567c5dp-21, 0x1.2d346fc5383a7p-22, 0x1.4fe31ef154a8ep-24, 0x1.53721936f5978p-26,
       0x1.b9788c7781c29p-28, 0x1.5600f6206bcaep-29},
      {-0x1.8fd72166b6fd1p-36, -0x1.61f470f413323p-38, -0x1.3394852c03173p-8, -0x1.e33055dbc87cap-10,
       -0x1.03b7d377373c7p-11, -0x1.aea4b20aceb22p-14, -0x1.b17f0e3b0087dp-16, -0x1.0273e6b41a0fbp-17,
       -0x1.b43381109cf3bp-20, -0x1.3cbcd407a63fep-22, -0x1.37a80dceff5d1p-24, -0x1.7d952a6b9f517p-26,
       -0x1.5a6aee59fefd1p-28, -0x1.17cba6d9a2b4cp-30, -0x1.2e9be97f6b6f2p-32, -0x1.90fd84e8fcap-34},
      {0x1.809307211d862p-41, 0x1.121287f75a86dp-43, 0x1.937aa092ba89p-10, 0x1.22696bf02d733p-11, 0x1.129fadcd12215p-13,
       0x1.82b93898b9e6dp-16, 0x1.4e2ffc4b7fb1p-18, 0x1.5a16d97be9879p-20, 0x1.e2ee3a1eef6eap-23, 0x1.19d9a3c4c8f7dp-25,
       0x1.cca61578616bfp-28, 0x1.e092015ac639ep-30, 0x1.63db98cce1a2p-32, 0x1.cc10b8367b69ap-35, 0x1.9e1aa7eaec82bp-37,
       0x1.d58748271019fp-39},
      {-0x1.7190c7f8542fbp-46, -0x1.bca7096895278p-49, -0x1.f5fa61cf8cbcap-12, -0x1.4cb25612ca152p-13,
       -0x1.16a41b9b515d9p-15, -0x1.4fe586dc3357dp-18, -0x1.f5a02853708dcp-21, -0x1.c5869208b3152p-23,
       -0x1.0720e5904eab1p-25, -0x1.f02e3b142f39cp-29, -0x1.51cb0dccfda71p-31, -0x1.2cdec3f884d47p-33,
       -0x1.6c1ff7c77039cp-36, -0x1.7946072e042fap-39, -0x1.1ad647b3f332dp-41, -0x1.1286c3709cff1p-43},
      {0x1.62d1eb01f7926p-51, 0x1.41b402b48722ep-55, 0x1.29aea943d14e5p-13, 0x1.6cd96121e8bc1p-15,
       0x1.1037165c06df2p-17, 0x1.1adcbd5a19382p-20, 0x1.6f1f12aa3ca34p-23, 0x1.23202120bee06p-25,
       0x1.1a64472247021p-28, 0x1.b0268c53d86aap-32, 0x1.eba48fdf3cf1bp-35, 0x1.769646fa1ecbfp-37,
       0x1.73208e85eae25p-40, 0x1.3497c84bfb3d1p-43, 0x1.81ac7aefbe2dep-46, 0x1.409a0d7f81872p-48},
      {-0x1.53f1f20e028ebp-56, -0x1.5023b401d147dp-57, -0x1.520258a091ec5p-15, -0x1.80852eb059337p-17,
       -0x1.0099f90d83c73p-19, -0x1.cea494b2e297cp-23, -0x1.065f7ee2fc396p-25, -0x1.6eddaa482fe13p-28,
       -0x1.2a304794819a8p-31, -0x1.7441f1925c30fp-35, -0x1.62ea380fd0c24p-38, -0x1.cfbf67e6e1bb7p-41,
       -0x1.78410e4f094e6p-44, -0x1.f74f7d482655dp-48, -0x1.0602eef15251ep-50, -0x1.7644345e8fb1p-53},
      {0x1.45dbb33408ab8p-61, -0x1.11b3cf85faa3dp-60, 0x1.7119b22b3442fp-17, 0x1.867d5ba5a06d3p-19,
       0x1.d4e9d1c02dc0cp-22, 0x1.70838c3af395ep-25, 0x1.6ee76ffb6d527p-28, 0x1.c66274f81bd7cp-31, 0x1.3712440638dap-34,
       0x1.3dbc493181e1ap-38, 0x1.fcc482bb5aafdp-42, 0x1.1dcaa88c5b59bp-44, 0x1.7ca9a0fb291ddp-48,
       0x1.99aff3973d9efp-52, 0x1.6358bb00b61abp-55, 0x1.b45fcb65a58c4p-58},
      {-0x1.49b1bec215b28p-66, -0x1.67f74996ec1ep-64, -0x1.8726ea9471294p-19, -0x1.7a565489ef6fcp-21,
       -0x1.b18e150747744p-24, -0x1.2778a4ed84361p-27, -0x1.fe7f592958e8ep-31, -0x1.0ae6eb32afb6cp-33,
       -0x1.5428b1647e589p-37, -0x1.18216912f57f4p-41, -0x1.780777ab1cb9ap-45, -0x1.629da06f31af8p-48,
       -0x1.976c3e1b82169p-52, -0x1.58a08bd34df1fp-56, -0x1.0693bf1ad44c7p-59, -0x1.e763693917aa9p-63},
      {0x1.3a66d17df01cbp-71, -0x1.85db1febc96b1p-69, 0x1.733ee04f274ddp-21, 0x1.63606a0452192p-23,
       0x1.719b14a848891p-26, 0x1.bc3cc14ed7451p-30, 0x1.4f9f477a4f16cp-33, 0x1.1a5509a248cbap-36, 0x1.5715b23cb3b1p-40,
       0x1.d4250e4bcfd6cp-45, 0x1.0dad9cce87a4ep-48, 0x1.9abbcf53d861ep-52, 0x1.973575c463f3dp-56,
       0x1.15cf19becddf7p-60, 0x1.7bcff46a23846p-64, 0x1.0b16787718187p-67},
  };
  static constexpr double icdf_shift = 3;
  static constexpr int icdf_bits = 1;
  alignas(64) static constexpr double icdf_middle[16] = {
      0x1.3e80000bp9,  0x1.000000068p-1, 0x1.ffffff5b8p0, 0x1.0000001b4p2, 0x1.bffffffdcp2, 0x1.5fffffee6p3,
      0x1.0ffffffd8p4, 0x1.8fffffedep4,  0x1.27fffffd2p5, 0x1.a80000042p5, 0x1.33ffffdb4p6, 0x1.b3ffffff6p6,
      0x1.39ffffd36p7, 0x1.ba000021cp7,  0x1.3d0000018p8, 0x1.bcfffffbcp8};
  alignas(64) static constexpr double icdf[16][16] = {
      {0x1.1cd91cf7fa648p6, 0x1.6bc8e0245ce24p1, 0x1.f29aebf1c8e05p1, 0x1.5079971762d83p2, 0x1.c0e2feff4e25bp2,
       0x1.1d2f77f51f6cbp3, 0x1.66c983f5da23ap3, 0x1.b6f6a288994adp3, 0x1.0cf87b1bd7689p4, 0x1.43a3cb2f3ced7p4,
       0x1.87cd82d2a452dp4, 0x1.d3a3cb8b56db4p4, 0x1.1957bede927b8p5, 0x1.4e6a6019e58f2p5, 0x1.911d5b975563dp5,
       0x1.dbc1048251f38p5},
      {0x1.9d3853459247p-11, 0x1.ecc0d144a644dp-3, 0x1.736b78831521bp-3, 0x1.f733a1d0bbc55p-4, 0x1.35457518c275dp-4,
       0x1.8a46180514a79p-5, 0x1.fa1bffe44627p-6, 0x1.554cf877236a4p-6, 0x1.c98183a42e053p-7, 0x1.3d4e854b2b4e1p-7,
       0x1.b24e0911826d6p-8, 0x1.31745d912ae71p-8, 0x1.a68e8419feb9dp-9, 0x1.2b5b3abc81389p-9, 0x1.a07124c603835p-10,
       0x1.2828c0c8cbddep-10},
      {-0x1.4cf93c9fd5dep-22, 0x1.0215b81f5057fp-7, -0x1.769f93b953a95p-10, -0x1.fd319bccf09fep-9,
       -0x1.3490cea1cff74p-9, -0x1.15e3e410369a4p-10, -0x1.d89488cd2a436p-12, -0x1.b576f6030d5e3p-13,
       -0x1.8dfb6d686c01cp-14, -0x1.81f4c69f78cefp-15, -0x1.6ba424d30a719p-16, -0x1.69207c70485efp-17,
       -0x1.5a84b92b97009p-18, -0x1.5c7893bfe64d1p-19, -0x1.51a6300bcda3dp-20, -0x1.55d8f923333ccp-21},
      {0x1.0c2bb4e6e4b78p-32, -0x1.426fc33350175p-9, -0x1.4216e93d804c1p-10, -0x1.cc4269542c635p-14,
       0x1.cc83907b85e42p-14, 0x1.776892f5ce8adp-15, 0x1.b1cebac5d9981p-17, 0x1.15008311d26eap-18, 0x1.574b57ce919dp-20,
       0x1.d2a3eb76eda04p-22, 0x1.2f32447ac5bc4p-23, 0x1.a9aaa7f020b8bp-25, 0x1.1b914ffc97007p-26,
       0x1.950981eeb52dfp-28, 0x1.117a6064f7041p-29, 0x1.8a4a29d0d61e2p-31},
      {-0x1.0de3eab996d79p-42, -0x1.19e7e85d354fp-17, 0x1.48d1a24805c72p-13, 0x1.0c3ee8c02c81bp-14,
       -0x1.575fddd10ad4cp-20, -0x1.2448db7e6f4b9p-19, -0x1.ec987e273f02fp-22, -0x1.b38566f4c127cp-24,
       -0x1.705d0a25daa0cp-26, -0x1.5f636b3e82d43p-28, -0x1.3b382bb091ca2p-30, -0x1.390869385c1ecp-32,
       -0x1.21b491e502827p-34, -0x1.25fa9e52d2df6p-36, -0x1.14b4a97a8e8c1p-38, -0x1.1c1bd7dbfb87ap-40},
      {0x1.3025cf6f2a444p-52, 0x1.8aad446619c14p-15, 0x1.716ef3f46ff51p-18, -0x1.1813c6c64acc4p-17,
       -0x1.b68e54ebb20a2p-21, 0x1.9a3b644c6c89dp-24, 0x1.35cff99063328p-26, 0x1.7db31061816aep-29,
       0x1.b939d07ec26d2p-32, 0x1.27a2ae9247103p-34, 0x1.6e698bf5a6a6p-37, 0x1.0181759c46afap-39, 0x1.4b339db0f3b41p-42,
       0x1.dda6e563909c6p-45, 0x1.396dd4944519ep-47, 0x1.ca6ba0cddedcap-50},
      {-0x1.6f2c221f21a3bp-62, -0x1.9c5219ddf0317p-20, -0x1.db0bbe3712711p-19, 0x1.190e55465046fp-22,
       0x1.4526b6a1307a1p-23, -0x1.cd7191ab721a2p-30, -0x1.992fc2d0eb9f2p-31, -0x1.652f292ad5326p-34,
       -0x1.1a6bc75cec125p-37, -0x1.0a018b611b08dp-40, -0x1.c7bdcc1b4e0d6p-44, -0x1.c57be21e62ap-47,
       -0x1.9569b41b5ad2dp-50, -0x1.9f8e0a07d4e95p-53, -0x1.7c412e95fc9a8p-56, -0x1.8c28bc8b80641p-59},
      {0x1.d04c881a94c78p-72, -0x1.fedef8f668c9ap-21, 0x1.ee3508681caa9p-23, 0x1.998bd46030bc3p-24,
       -0x1.16e0673d4d4d5p-26, -0x1.7feb9c5b6c5p-32, 0x1.0e3f715bc0e7p-35, 0x1.5d22edf5bf2abp-39, 0x1.7a04959e0020fp-43,
       0x1.f4c0fd3beae4p-47, 0x1.289b5f1929809p-50, 0x1.a1ffc6eebdca5p-54, 0x1.03cc9a2a2630cp-57, 0x1.7a98b27fc594fp-61,
       0x1.e329352f2ce8ap-65, 0x1.6695ac401b76dp-68},
      {-0x1.2f879fb52c7bdp-81, 0x1.0d0aa29156342p-24, 0x1.aec0ce2b75e53p-25, -0x1.3509d09fc6697p-26,
       0x1.0ea4b60a1515dp-30, 0x1.13abd3d4dce0fp-34, -0x1.4a5a784afce13p-40, -0x1.5fcff2a4d6698p-44,
       -0x1.053092e242a14p-48, -0x1.e6cff9dc54598p-53, -0x1.8ee31dd6eae66p-57, -0x1.8e2b61762ae8dp-61,
       -0x1.582a1646bb934p-65, -0x1.6490af4329f3ep-69, -0x1.3d58de344ca81p-73, -0x1.4f9507d08122cp-77},
      {0x1.96fde4e5a0638p-91, 0x1.4ca114ae11659p-26, -0x1.41bd5711c8d0ap-27, 0x1.1196f8bb83b5dp-30,
       0x1.4af83f36d543bp-36, -0x1.e0c844b7f1521p-38, 0x1.2f3d9dde5be1p-45, 0x1.69ebfe55f762p-49, 0x1.71b0bfc861752p-54,
       0x1.e4e728cc32d6bp-59, 0x1.12e3dffa06f23p-63, 0x1.84cb1c74d7615p-68, 0x1.d36e50b8ce6c1p-73,
       0x1.5853eab888338p-77, 0x1.ab7aadae5105dp-82, 0x1.420e1be2fdf88p-86},
      {-0x1.165915e89130ep-100, -0x1.0c7f7ba117ef4p-29, -0x1.9971be2ad1c5ep-33, 0x1.5843fc3975806p-33,
       -0x1.daef9d0b2a9fap-37, 0x1.3fd2eb586b15ep-41, 0x1.4969ff37ed251p-53, -0x1.785d84876312ep-54,
       -0x1.0aa13cb0f046dp-59, -0x1.ec3c2caea7566p-65, -0x1.824be4850330ep-70, -0x1.830d7710f23c6p-75,
       -0x1.43bb3164b8591p-80, -0x1.5315c542940efp-85, -0x1.25ae8a4de964fp-90, -0x1.3b3bc43b6d3adp-95},
      {0x1.82c7532b8bf4ap-110, -0x1.98aa9fb882b5ep-32, 0x1.d54eb3f12444bp-33, -0x1.53b205a2d9d7ap-35,
       0x1.0abbcae107e9cp-39, -0x1.4467ac1c945cbp-45, -0x1.33b5d08145ff5p-53, 0x1.861bcc0abc56ap-59,
       0x1.865b5281fe979p-65, 0x1.fafc10738f4a4p-71, 0x1.139c8178686f8p-76, 0x1.87300d0b0f4a1p-82,
       0x1.c774ee17af049p-88, 0x1.53366aa88bca6p-93, 0x1.99e2505ee5p-99, 0x1.39e8050c6df63p-104},
      {-0x1.0e16409a7adf3p-119, 0x1.e704bdeba9184p-35, -0x1.0db7521dbd89bp-36, 0x1.8c82c85fee4d7p-39,
       -0x1.53f7a559cd22dp-43, 0x1.9b53b501f6a92p-50, 0x1.0597cd2ae7145p-56, -0x1.8a6ef959faeeap-64,
       -0x1.1e641b89d5f74p-70, -0x1.0816af5a224bfp-76, -0x1.8ab3e5290a7dap-83, -0x1.8fe04dd9a0becp-89,
       -0x1.41c7fd66cf802p-95, -0x1.57045e2dc80cbp-101, -0x1.1f713919589f7p-107, -0x1.3b2ac13b91bdfp-113},
      {0x1.7f54664537813p-129, -0x1.31a09ba69a439p-35, -0x1.bb1338a60f0c8p-39, 0x1.2291e1ea31675p-42,
       0x1.a6195a682ba6bp-49, 0x1.f2d3425212bd1p-56, -0x1.51695741a20f2p-60, 0x1.7603f30524f3ep-69,
       0x1.aabfcca2cdf8ep-76, 0x1.1c8abd10a2af7p-82, 0x1.1f03fe5a66c11p-89, 0x1.a34f490d0c77fp-96,
       0x1.cd9e4559cf1b1p-103, 0x1.5e9559f3f257p-109, 0x1.99fe225bb931cp-116, 0x1.2f0b55e372d2ap-122},
      {-0x1.3d8410d4d6dacp-138, -0x1.b0e26d7ffd74cp-40, 0x1.3ac688e362359p-41, -0x1.6d78272da1b94p-44,
       0x1.a1e7f203e90f6p-50, -0x1.0a1d1eb16156p-56, 0x1.bb09f687a93d4p-64, -0x1.03a7b9022be12p-74,
       -0x1.798eb2cc3020ep-81, -0x1.3f0149cffc765p-88, -0x1.ec0b2232e9e4fp-96, -0x1.d08586af08462p-103,
       -0x1.84be88181b8ccp-110, -0x1.85ddf39d74ea7p-117, -0x1.553c0126edde6p-124, -0x1.6178f59412811p-131},
      {0x1.d4242daa89a4dp-148, 0x1.75c5af6a5f0cp-35, 0x1.17b3fe78a4222p-46, 0x1.715333a05a676p-48,
       -0x1.fd8fb08bfa03p-53, 0x1.eb46686c6cbe6p-60, -0x1.9223e73ae4bep-68, -0x1.3741d4b1af2f1p-82,
       0x1.266ea2834ef3dp-86, 0x1.e6997420da18dp-95, 0x1.7680344506555p-102, 0x1.9064ce5d5b348p-110,
       0x1.242130838319ap-117, 0x1.a254f901987a2p-125, 0x1.f6efad46c8268p-133, 0x1.4784350cb76f9p-139},
  };
};
template <>
struct NormalTable<float> {
  static constexpr float tail_shift = 1;
  alignas(64) static constexpr float tail_middle[16] = {0x1.3fffccp0f, 0x1.c0000cp0f, 0x1.1fffa2p1f,  0x1.60005ap1f,
                                                        0x1.bfffcap1f, 0x1.20003p2f,  0x1.60001ep2f,  0x1.a00142p2f,
                                                        0x1.fffffbp2f, 0x1.40000dp3f, 0x1.80001p3f,   0x1.bffffd8p3f,
                                                        0x1.ffea4p-4f, 0x1.7ff1cp-2f, 0x1.400008p-1f, 0x1.bffe78p-1f};
  alignas(64) static constexpr float tail[7][16] = {
      {0x1.d8990cp-3f, 0x1.7b5ab6p-3f, 0x1.3aae2ep-3f, 0x1.0bb93p-3f, 0x1.b39728p-4f, 0x1.5b5a98p-4f, 0x1.201f92p-4f,
       0x1.eba492p-5f, 0x1.926976p-5f, 0x1.43a37ep-5f, 0x1.0e7dc2p-5f, 0x1.d087bp-6f, 0x1.d0b108p-2f, 0x1.84baaep-2f,
       0x1.4b1ddep-2f, 0x1.1e7ca6p-2f},
      {-0x1.ea4f0ep-2f, -0x1.9d7006p-2f, -0x1.62b7a4p-2f, -0x1.3503e4p-2f, -0x1.016cd2p-2f, -0x1.a27238p-3f,
       -0x1.5f0c44p-3f, -0x1.2dab8p-3f, -0x1.f11fbep-4f, -0x1.91ca28p-4f, -0x1.50bfc2p-4f, -0x1.21a8d2p-4f,
       -0x1.821df8p-1f, -0x1.5a1726p-1f, -0x1.37aebap-1f, -0x1.1a180ep-1f},
      {0x1.9b1d96p-3f, 0x1.2c7bep-3f, 0x1.c3c7a2p-4f, 0x1.5c68e4p-4f, 0x1.ec0e64p-5f, 0x1.49f9aap-5f, 0x1.d4ef9p-6f,
       0x1.5c7d5ep-6f, 0x1.dc09f8p-7f, 0x1.386778p-7f, 0x1.b812p-8f, 0x1.462516p-8f, 0x1.cfbe4ep-2f, 0x1.7e3c22p-2f,
       0x1.3d32cap-2f, 0x1.092bcap-2f},
      {-0x1.3722dap-4f, -0x1.915e18p-5f, -0x1.0c3f48p-5f, -0x1.72938cp-6f, -0x1.c18f9p-7f, -0x1.f7ae86p-8f,
       -0x1.31a394p-8f, -0x1.8b0d46p-9f, -0x1.c1be9p-10f, -0x1.e16d6ap-11f, -0x1.1db1a8p-11f, -0x1.6d7288p-12f,
       -0x1.dc2deep-3f, -0x1.6de88cp-3f, -0x1.1b66a4p-3f, -0x1.bae5dp-4f},
      {0x1.b148p-6f, 0x1.f38cbcp-7f, 0x1.2c05b2p-7f, 0x1.76921cp-8f, 0x1.8a929p-9f, 0x1.751204p-10f, 0x1.8568ep-11f,
       0x1.b7e524p-12f, 0x1.a391c8p-13f, 0x1.6fbedcp-14f, 0x1.709efcp-15f, 0x1.978dc8p-16f, 0x1.b1fbf8p-4f,
       0x1.39a4f4p-4f, 0x1.c93348p-5f, 0x1.509d28p-5f},
      {-0x1.1c2d0cp-7f, -0x1.2655dcp-8f, -0x1.3fa33ap-9f, -0x1.6aa392p-10f, -0x1.53ed6cp-11f, -0x1.1073ep-12f,
       -0x1.e98c7ap-14f, -0x1.e68438p-15f, -0x1.8b67d8p-16f, -0x1.1ab35ep-17f, -0x1.dd3722p-19f, -0x1.c8f43p-20f,
       -0x1.68ede2p-5f, -0x1.ecad68p-6f, -0x1.575cb2p-6f, -0x1.d67c64p-7f},
      {0x1.5a996ep-9f, 0x1.4513b4p-10f, 0x1.412cd8p-11f, 0x1.4e2f22p-12f, 0x1.1540a6p-13f, 0x1.7e102cp-15f,
       0x1.298d5ep-16f, 0x1.0713f6p-17f, 0x1.66cfap-19f, 0x1.a7ad9cp-21f, 0x1.2f9a6ep-22f, 0x1.f94f02p-24f,
       0x1.1370d4p-6f, 0x1.62d5a2p-7f, 0x1.ec4c98p-8f, 0x1.2b8408p-8f},
  };
  static constexpr float icdf_shift = 7;
  static constexpr int icdf_bits = 2;
  alignas(64) static constexpr float icdf_middle[16] = {0x1.cffedp4f,  0x1.27ff6p5f, 0x1.68005p5f, 0x1.a8012p5f,
                                                        0x1.03feb8p6f, 0x1.4401ep6f, 0x1.84005p6f, 0x1.0004cp-1f,
                                                        0x1.00006p1f,  0x1.fffeep1f, 0x1.80011p2f, 0x1.000088p3f,
                                                        0x1.6p3f,      0x1.dffd3p3f, 0x1.2fff1p4f, 0x1.7000d8p4f};
  alignas(64) static constexpr float icdf[7][16] = {
      {0x1.da2da8p3f, 0x1.0cf83p4f, 0x1.298944p4f, 0x1.43a43cp4f, 0x1.67501p4f, 0x1.920f92p4f, 0x1.b8b7acp4f,
       0x1.6bc9bp1f, 0x1.f29b3p1f, 0x1.50793ap2f, 0x1.9de3aep2f, 0x1.e1c62p2f, 0x1.1d2f78p3f, 0x1.4fee1ep3f,
       0x1.7c56bep3f, 0x1.a44ba4p3f},
      {0x1.254d9p-6f, 0x1.c9828p-7f, 0x1.76c972p-7f, 0x1.3d4daap-7f, 0x1.01e286p-7f, 0x1.9c8f78p-8f, 0x1.57b72ep-8f,
       0x1.ecc004p-3f, 0x1.736b44p-3f, 0x1.f73478p-4f, 0x1.65ccdap-4f, 0x1.0f6a2cp-4f, 0x1.8a4616p-5f, 0x1.1f8c82p-5f,
       0x1.c3c326p-6f, 0x1.73a4bap-6f},
      {-0x1.44c8eep-13f, -0x1.8dfd2p-14f, -0x1.0c569p-14f, -0x1.81f2b8p-15f, -0x1.ffa25cp-16f, -0x1.485986p-16f,
       -0x1.c8be48p-17f, 0x1.0212e8p-7f, -0x1.76a214p-10f, -0x1.fd31fp-9f, -0x1.7d0866p-9f, -0x1.f1f056p-10f,
       -0x1.15e3d4p-10f, -0x1.2ee67ap-11f, -0x1.7ab364p-12f, -0x1.027f9ap-12f},
      {0x1.63dba8p-19f, 0x1.574a56p-20f, 0x1.7d922cp-21f, 0x1.d2a35cp-22f, 0x1.f8f67cp-23f, 0x1.044b5p-23f,
       0x1.2e66e6p-24f, -0x1.426d08p-9f, -0x1.4221fcp-10f, -0x1.ccad8cp-14f, 0x1.d514aep-14f, 0x1.82f85p-14f,
       0x1.7775e2p-15f, 0x1.38d2f8p-16f, 0x1.3898dep-17f, 0x1.62f314p-18f},
      {-0x1.e4621ep-25f, -0x1.7058f8p-26f, -0x1.51b1e6p-27f, -0x1.5f5552p-28f, -0x1.36a934p-29f, -0x1.0143ccp-30f,
       -0x1.f3d1b2p-32f, -0x1.1a00cep-17f, 0x1.48c002p-13f, 0x1.0c5af6p-14f, 0x1.9f5bf8p-18f, -0x1.c178a8p-19f,
       -0x1.24758cp-19f, -0x1.8ddbf8p-21f, -0x1.3fbd26p-22f, -0x1.2e6deep-23f},
      {0x1.75a604p-30f, 0x1.beddbap-32f, 0x1.4ce1ccp-33f, 0x1.267736p-34f, 0x1.b5149cp-36f, 0x1.1c2be2p-37f,
       0x1.e1a7b4p-39f, 0x1.86f904p-15f, 0x1.8a7122p-18f, -0x1.1245eep-17f, -0x1.3972d8p-19f, -0x1.933a8ep-23f,
       0x1.8e2a0cp-24f, 0x1.192caep-25f, 0x1.70c838p-27f, 0x1.22984p-28f},
      {-0x1.33e3ep-35f, -0x1.1f411ep-37f, -0x1.66c41ep-39f, -0x1.124cd2p-40f, -0x1.3dae1p-42f, -0x1.59924ap-44f,
       -0x1.b6869ap-46f, -0x1.8f16c2p-20f, -0x1.d05b0cp-19f, 0x1.e1890ep-23f, 0x1.4e29dap-22f, 0x1.0e7204p-24f,
       -0x1.3d13a4p-30f, -0x1.8664b2p-30f, -0x1.bd01b2p-32f, -0x1.231b66p-33f},
  };
};

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
