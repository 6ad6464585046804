// Coefficients of the inverse of the normal distribution function.
//
// normal_icdf(p) = q F(w), q = p - 1/2, w = -log(4p(1-p)). F is c0 (1 + c1 d + c2 d^2 + ...) in each of 16 pieces; d is the
// distance of w from a point in the middle of the piece. As in erf_table.hpp these points were searched for, so that F is,
// there, c0 to better than 2^-7 of its last place. Relative error, after rounding of the coefficients one after the other
// with the others fitted anew (weighted least squares at Chebyshev nodes in 260 bits): 2^-54.6 (double), 2^-26 (float).
#pragma once

#include "kernels/isa.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// Row k holds c_k; pieces are numbered mod 16 by the exponent and first bits of the mantissa, `octave_bits` of them,
/// of w + `shift`.
template <class Real>
struct NormalTable;

template <>
struct NormalTable<double> {
  static constexpr double shift = 3;
  static constexpr int octave_bits = 1;
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
  static constexpr float shift = 7;
  static constexpr int octave_bits = 2;
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
