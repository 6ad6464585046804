// Coefficients of erf and of erfcx(x) = e^(x^2) erfc(x), piece by piece.
//
// Row k holds the coefficient of d^k in each of 16 pieces, where d is the distance from a point in the middle of the
// piece. These points were searched for: there the function is, by luck, closer to a number of the format than 2^-8 of its
// last place (erf: 1/8, where it is small), so the constant terms are as good as exact (Gal and Bachelis, "An accurate
// elementary mathematical library", ACM TOMS 17, 1991). Weighted least squares at Chebyshev nodes, close to minimax, in 200
// bits, coefficients rounded one after the other with those that follow fitted anew. Relative error after rounding: erfcx
// 2^-56.7 (float: 2^-27.5), erf 2^-54.1 (float: 2^-25).
#pragma once

#include "kernels/isa.hpp"

namespace wengert::kernels {
inline namespace WENGERT_ISA {

/// `erfcx`: c0 (1 + c1 d + c2 d^2 + ...); pieces are quarters of octaves of x + `shift`, numbered mod 16 by its exponent and
/// the first two bits of its mantissa. `erf`: piece i has its middle at i * `erf_width`; below `erf_whole`, in the first two,
/// it is erf(x) - x. erf is 1 beyond `erf_last`.
template <class Real>
struct ErfTable;

template <>
struct ErfTable<double> {
  static constexpr double shift = 2;
  alignas(64) static constexpr double erfcx_middle[16] = {
      0x1.00000049p-2,  0x1.7fffffb4p-1, 0x1.40000007p0,   0x1.bfffffa2cp0, 0x1.3fffffe8ep1,  0x1.c00000804p1,
      0x1.1ffffff84p2,  0x1.5ffffff57p2, 0x1.c0000010dp2,  0x1.1ffffffe4p3, 0x1.5ffffffb58p3, 0x1.9ffffffec8p3,
      0x1.0000000214p4, 0x1.400000035p4, 0x1.7ffffff604p4, 0x1.c00000026p4};
  alignas(64) static constexpr double erfcx[15][16] = {
      {0x1.8a6adcbf0e251p-1, 0x1.038d550634ca1p-1, 0x1.78a6920dae91dp-2, 0x1.23cfc322b7296p-2, 0x1.afbb3f56f571fp-3,
       0x1.3e0a994c22cbep-3, 0x1.f5b2a056b6b26p-4, 0x1.9d8a8f2e8c706p-4, 0x1.46dc6becf9cdcp-4, 0x1.fe6cc4a409cecp-5,
       0x1.a273c583c4fbp-5, 0x1.627bcc28d39adp-5, 0x1.204ddcd71266cp-5, 0x1.cd9bc896af1b5p-6, 0x1.80d1e8973969bp-6,
       0x1.49ebde76b8e53p-6},
      {-0x1.edf61aaa31fe6p-1, -0x1.73a5b6bf373dap-1, -0x1.22acb661a245bp-1, -0x1.d6a43db2b3134p-2,
       -0x1.692524a26b9f5p-2, -0x1.107c68d1ceb83p-2, -0x1.b2ff70a29814ap-3, -0x1.68f6a98660319p-3,
       -0x1.1ee25c51d6b1ep-3, -0x1.c1a88beea5d4dp-4, -0x1.71591411f5259p-4, -0x1.393d53737919ep-4,
       -0x1.fe04edd2333aap-5, -0x1.98951450dae5ep-5, -0x1.54be48b49918ep-5, -0x1.24330e2ca952p-5},
      {0x1.848279323cb4ep-1, 0x1.d2876e4f8255cp-2, 0x1.295037fc04dfcp-2, 0x1.90c129656be3ap-3, 0x1.e48c92acc7a04p-4,
       0x1.193240429f51dp-4, 0x1.6a0a15640247ep-5, 0x1.f59adec40d282p-6, 0x1.3e7bcbbe2166ep-6, 0x1.8898a5a615e35p-7,
       0x1.09611b81acc85p-7, 0x1.7e2c32ec7c554p-8, 0x1.fb1229a8e3397p-9, 0x1.45a695a4f2d17p-9, 0x1.c525fcc8ed2e5p-10,
       0x1.4d4e5e436e81dp-10},
      {-0x1.088e52d6a03cap-1, -0x1.0643e75ab33dcp-2, -0x1.179c33aad1c0fp-3, -0x1.3ff344b284e59p-4,
       -0x1.36f1859706796p-5, -0x1.1a04ae0b7b87fp-6, -0x1.2781068b2342cp-7, -0x1.57aeb37eafc5bp-8,
       -0x1.5e57002b5d4fep-9, -0x1.54cd9914b547bp-10, -0x1.7bda16d3bf5c8p-11, -0x1.d0f162d350077p-12,
       -0x1.f72d6e217e9a4p-13, -0x1.033b7ef870319p-13, -0x1.2d0ede51e226bp-14, -0x1.7bf4804cd87c3p-15},
      {0x1.425ee469b8c72p-2, 0x1.0dd480f26a1d8p-3, 0x1.ea3a5eb5bcf55p-5, 0x1.e331360df4cc2p-6, 0x1.7f7aaf305371p-7,
       0x1.13713d8f74a74p-8, 0x1.d98ee106c93eep-10, 0x1.d0aa8040947f8p-11, 0x1.7df57195b6e54p-12, 0x1.262b2e23c84ecp-13,
       0x1.0ecaf4e361c35p-14, 0x1.1a04a879b9f59p-15, 0x1.f25dc1a70a1a1p-17, 0x1.9c36eb0be8fa5p-18,
       0x1.8faf59d77adbfp-19, 0x1.b0dbfcdebb81bp-20},
      {-0x1.66d0bd302985ep-3, -0x1.01b9f1b94f9e9p-4, -0x1.948646952182ep-6, -0x1.5b5f2a4e457a9p-7,
       -0x1.c81f0111344cep-9, -0x1.06709906ab10ep-10, -0x1.74d53320614e5p-12, -0x1.3612f7cbe3df9p-13,
       -0x1.9cd2df9884514p-15, -0x1.f901094b71d3cp-17, -0x1.809ad3349f867p-18, -0x1.5529cfc40d00fp-19,
       -0x1.ecab629324a4fp-21, -0x1.475671dcbe847p-22, -0x1.09159341ba855p-23, -0x1.ecd1a55dcd88cp-25},
      {0x1.72066648db2eap-4, 0x1.cdd210ffc356dp-6, 0x1.3c8898c3748a1p-7, 0x1.ddfa836d927f2p-9, 0x1.0668d1a0602edp-10,
       0x1.e89cf9aeea048p-13, 0x1.20a57da1d21dbp-14, 0x1.98af2641cb6e5p-16, 0x1.ba69287774641p-18,
       0x1.af197c8e54c5ap-20, 0x1.1015f3239e81cp-21, 0x1.9b8fe374e12dp-23, 0x1.e61fb0c3838a6p-25, 0x1.039ee6913fc78p-26,
       0x1.5f53559532c6dp-28, 0x1.185d8c9159c1ap-29},
      {-0x1.6536c9326bb64p-5, -0x1.872a6a76df9f3p-7, -0x1.d86fc75dc3cd6p-9, -0x1.3c03944b39138p-10,
       -0x1.24d23bea2179ep-12, -0x1.bcff4400468cep-15, -0x1.b7d27d89dcf61p-17, -0x1.0a17560e54bddp-18,
       -0x1.d634474adc9e2p-21, -0x1.6e06a74656879p-23, -0x1.7f854555d490bp-25, -0x1.ef1d6df59afa7p-27,
       -0x1.dec5124912718p-29, -0x1.9b5338b6a575p-31, -0x1.d13a6379475p-33, -0x1.3ecd8e935d837p-34},
      {0x1.455f8d419d42bp-6, 0x1.3b22296a79b76p-8, 0x1.51cb55a358758p-10, 0x1.92eec28119487p-12, 0x1.3d95ab743495fp-14,
       0x1.8cf6728b63992p-17, 0x1.49f8b38ef27abp-19, 0x1.56787154b552bp-21, 0x1.efb6664d2e584p-24,
       0x1.351ffbabbb095p-26, 0x1.0d4a680081edap-28, 0x1.28ff97564531bp-30, 0x1.d6a6e5a4598d2p-33,
       0x1.45718531dc1b6p-35, 0x1.33c4a26f601e5p-37, 0x1.6a366d5cfa766p-39},
      {-0x1.195f2ef1a30e8p-7, -0x1.e55132b169a85p-10, -0x1.d08f449d4ec79p-12, -0x1.f0d2925c7c7a9p-14,
       -0x1.4f674aa3f51c8p-16, -0x1.5b381dd997228p-19, -0x1.e7db0ff7c0f9ep-22, -0x1.b3d0481f35314p-24,
       -0x1.033f0792015ddp-26, -0x1.03b499d9e82aap-29, -0x1.78c67ba74c8c1p-32, -0x1.6355c2d671eb3p-34,
       -0x1.cdd30eab1d771p-37, -0x1.012efa82af3c3p-39, -0x1.96dda299fb264p-42, -0x1.9ca13ada2dba9p-44},
      {0x1.d052a30d58111p-9, 0x1.669e308923328p-11, 0x1.34306564b76c6p-13, 0x1.28eb8bd33e44cp-15, 0x1.5979d80949183p-18,
       0x1.2a1325056dd62p-21, 0x1.638cec8a6e52fp-24, 0x1.12448117ddc52p-26, 0x1.0d0f738515b7ap-29,
       0x1.b21f25c8f9586p-33, 0x1.069e04c801c6ap-35, 0x1.a7fd81517301p-38, 0x1.c4526eec8aab2p-41, 0x1.95fdbe0a3e12dp-44,
       0x1.0cb4ed5061dc1p-46, 0x1.c2789c70a8dd5p-49},
      {-0x1.6eeac82beba78p-10, -0x1.fe3419d9d53b4p-13, -0x1.8b972c7bef6c7p-15, -0x1.589a2dfd44f55p-17,
       -0x1.5b2947d242568p-20, -0x1.f65e2ea546e54p-24, -0x1.fed90049f1bfdp-27, -0x1.54e4167fe8677p-29,
       -0x1.14b9926e0844ap-32, -0x1.68c392672170bp-36, -0x1.6c9a5ec76e9b7p-39, -0x1.fa3f85764e4d8p-42,
       -0x1.b9a2af31e21fp-45, -0x1.3ff04f37145edp-48, -0x1.61eaa48c0f19cp-51, -0x1.58e547bc795fap-53},
      {0x1.16edfdad59756p-11, 0x1.5e9a2251864c1p-14, 0x1.ec7e6cb969c32p-17, 0x1.850eb30db278dp-19,
       0x1.55b6383a29a9ap-22, 0x1.a0777f07d8c72p-26, 0x1.6a5541d9b5ad9p-29, 0x1.a3622762bbf57p-32, 0x1.1b039ebb5be6p-35,
       0x1.2a8889235cd3dp-39, 0x1.f8f11dc868649p-43, 0x1.2cca6c3adce47p-45, 0x1.af103b84042a6p-49,
       0x1.f7f8a9ee52014p-53, 0x1.d23151254096ep-56, -0x1.bdc694f8577a3p-59},
      {-0x1.a4a426ba12a2dp-13, -0x1.dc55c9bfb7733p-16, -0x1.2b681d24b49d3p-18, -0x1.bc5e10f20ba76p-21,
       -0x1.5ac8f95f3f03ep-24, -0x1.616fb317c8a71p-28, -0x1.08815e0935f94p-31, -0x1.1b67d1b5b82fdp-34,
       -0x1.3111e80d296d2p-38, -0x1.ff6fb5b7ae93cp-43, -0x1.68253b6fe1dccp-46, -0x1.28bee8c6b8efdp-49,
       -0x1.bc5aafcdaa714p-53, -0x1.997298446a862p-57, -0x1.5247ac921384fp-60, -0x1.2ab0c6955c176p-60},
      {0x1.27331897ad074p-14, 0x1.2fcd3bda4bc15p-17, 0x1.572e254b89c83p-20, 0x1.f6e9ec7373b9fp-23,
       0x1.44d890e66b0c3p-26, 0x1.1b74c079a8cb2p-30, 0x1.7158c3ae870b2p-34, 0x1.727104c60d7dap-37,
       0x1.31c46409c05c6p-41, 0x1.a185fcb5ff641p-46, 0x1.e414a87ca4618p-50, 0x1.40155272e227p-53, 0x1.ae724587e2a3fp-57,
       0x1.3f737d3bd3ae4p-61, 0x1.d01cf1811904ap-65, -0x1.8d179ca707a56p-65},
  };
  static constexpr double erf_width = 0x1.87ffffa9cp-2, inv_erf_width = 0x1.4e5e0abc82145p1, erf_last = 0x1.7bp2,
                          erf_whole = 0x1.25ffffbf5p-1;
  alignas(64) static constexpr double erf[13][16] = {
      {0, 0x1.da2aca43acf33p-6, 0x1.7131e5be6ef65p-1, 0x1.ca930de7203fdp-1, 0x1.f0762fcb9ca22p-1, 0x1.fc85cf50afda6p-1,
       0x1.ff67d08282d52p-1, 0x1.ffec39fef5accp-1, 0x1.fffe0e013819fp-1, 0x1.ffffdb01e78b9p-1, 0x1.fffffdedf3711p-1,
       0x1.ffffffe9aeb8cp-1, 0x1.ffffffff4b453p-1, 0x1.fffffffffbb58p-1, 0x1.ffffffffffec7p-1, 0x1.ffffffffffffcp-1},
      {0x1.06eba8214db69p-3, -0x1.a0b679224f36p-6, 0x1.417a0c9336c1dp-1, 0x1.35005338799fep-2, 0x1.bb1c98f857b14p-4,
       0x1.da0008e21fc2dp-6, 0x1.7a3ae1da9f864p-8, 0x1.c245da4867b4fp-11, 0x1.8fdc21a01c6abp-14, 0x1.08e1c046ab50bp-17,
       0x1.05c80a7cacccbp-21, 0x1.81fb89b4272fep-26, 0x1.a887cc9136021p-31, 0x1.5c4e9d0a8d9f8p-36,
       0x1.aa578759901b1p-42, 0x1.854894e735b57p-48},
      {-0x1.98df1abbda2c3p-48, -0x1.7e07a205ff726p-2, -0x1.ec42e2d51c808p-2, -0x1.62de5f44c7209p-2,
       -0x1.5341e4d37dffbp-3, -0x1.c5a2081c9813p-5, -0x1.b25f9f017f7c1p-7, -0x1.2da5cb79146f9p-9,
       -0x1.3224897b399cfp-12, -0x1.c84ce3d17f428p-16, -0x1.f510e3b6ad9e5p-20, -0x1.96564e5480dbap-24,
       -0x1.e78c32c1aca33p-29, -0x1.b12c383566694p-34, -0x1.1cc8862a9778ep-39, -0x1.9d999b84b6ea7p-45},
      {-0x1.812746b034412p-2, -0x1.d64f2b166b881p-3, 0x1.27862ec567af6p-5, 0x1.516449eec86f9p-3, 0x1.10792a77a49f4p-3,
       0x1.f3dac05f6cbc9p-5, 0x1.2d0c4d4c6cf31p-6, 0x1.f55bb22d2e89cp-9, 0x1.27dc20025972fp-11, 0x1.f5f57d2d8224dp-15,
       0x1.34c8708735a9fp-18, 0x1.1522a9040a33ep-22, 0x1.6c6efd5a05c96p-27, 0x1.602b85d80a95bp-32,
       0x1.f55bca127d753p-38, 0x1.075b2b781c1fbp-43},
      {-0x1.a20390bd5ff18p-35, 0x1.58b4e884d51ep-3, 0x1.2be43fc520357p-3, 0x1.56bd49cd2d37dp-6, -0x1.7e1b3591fbc5p-5,
       -0x1.472a56fe84344p-5, -0x1.1156db4f3064cp-6, -0x1.1d98a1054267p-8, -0x1.9202f9b626617p-11,
       -0x1.8a538a72b48ap-14, -0x1.12a31d56434d5p-17, -0x1.12d198541becfp-21, -0x1.8e30541ee6a14p-26,
       -0x1.a8bd7dc69eb5p-31, -0x1.5ab162e0e8185p-36, 0x1.9c0466e31369cp-39},
      {0x1.ce2f2210b630bp-4, 0x1.613cff17fc135p-5, -0x1.c806422f27251p-5, -0x1.e397d2d6b147p-5, -0x1.73b623085dc37p-7,
       0x1.921e5c5bb750ap-7, 0x1.41a1d0f72a438p-7, 0x1.cdd6e31e51d7cp-9, 0x1.93b4ce47498fcp-11, 0x1.d42319c1ebf77p-14,
       0x1.76388386e2c8dp-17, 0x1.a5540cfdd36d3p-21, 0x1.5286f5e929742p-25, 0x1.87b5ff4f54acp-30, 0x1.487455cbc83b7p-35,
       0x1.910e17471836dp-41},
      {-0x1.26b26081d87b2p-25, -0x1.9cc304d1c3d34p-5, -0x1.97019aeb5d348p-6, 0x1.16da8ff6a561bp-6, 0x1.2aa764c8f31b3p-6,
       0x1.71aa628d0cd24p-9, -0x1.91dfdc38a47c2p-9, -0x1.0435db24a9e04p-9, -0x1.30e9e92ea219dp-11,
       -0x1.b078aa731fde4p-14, -0x1.944997c0f8279p-17, -0x1.03143714c3652p-20, -0x1.d27ccd61bac92p-25,
       -0x1.78547956213f9p-30, 0x1.03d3feb498e11p-34, -0x1.50206a15e4167p-32},
      {-0x1.b82af5b1a46dp-6, -0x1.37ab23fef82b3p-8, 0x1.322fdddbb4b3ep-6, 0x1.15913711efad4p-7, -0x1.59a383e0ae065p-8,
       -0x1.2490cc04d7b84p-8, -0x1.54b070b05aeb7p-12, 0x1.650c326e9f333p-11, 0x1.555b9e9018db8p-12,
       0x1.3a40f44323d7p-14, 0x1.61160b0909ce4p-17, 0x1.0584b4b9efb53p-20, 0x1.0909b4c0b6904p-24, 0x1.77841c67cc4a1p-29,
       0x1.791721066773dp-34, 0x1.0ef7be2a74989p-39},
      {-0x1.0c5f47cb40baap-18, 0x1.70b5abd0adbf1p-7, 0x1.c9c148ab5ccb1p-10, -0x1.8e66f2e518ff2p-8,
       -0x1.eeb221378e84dp-10, 0x1.918e3098a20bdp-10, 0x1.ba4698d33cefep-11, -0x1.02b36cb24a0e9p-15,
       -0x1.05598f3533a0fp-13, -0x1.641cc7268d04dp-15, -0x1.f64f7d795aa75p-18, -0x1.b571201e8772ep-21,
       -0x1.c5df3b3a0dab2p-25, -0x1.4e5af227017bep-25, -0x1.80dd470fb80f4p-28, 0x1.dbc42b5bbabe1p-27},
      {0x1.57d26d71d686ap-8, -0x1.0eeb40d74a483p-15, -0x1.0197326a619f9p-8, -0x1.924a5c3811c5ep-14,
       0x1.b525b3ffcb16ep-10, 0x1.c636874083225p-13, -0x1.81405fbf973cp-12, -0x1.de8573f7007a7p-14,
       0x1.68eb402308118p-16, 0x1.2cbfad379e702p-16, 0x1.223987beb0533p-18, 0x1.3599a3c5f8bedp-21,
       0x1.a05f65f8b1a11p-25, 0x1.74e7aa0f9b7ccp-29, 0x1.ca37af66a0237p-34, 0x1.896de3a2345e7p-39},
      {-0x1.3d0405533af56p-14, -0x1.05db8a51b6d2bp-9, 0x1.314cdeafa9fe1p-12, 0x1.21195c2f54c97p-10,
       -0x1.6f8f076b003eep-13, -0x1.7403b52ac9903p-12, 0x1.3d9026e102e93p-16, 0x1.1993d9525c498p-14,
       0x1.2d603604107d4p-17, -0x1.2ff87eba75783p-18, -0x1.14cb4a443e62bp-19, -0x1.cb3ee2bb3064cp-22,
       -0x1.7647c25f35b1fp-23, 0x1.a4b8ec034b858p-21, 0x1.01a854fe73d1bp-23, -0x1.44b7441609194p-22},
      {-0x1.7b4aee3a9914cp-11, 0x1.258642caa5428p-13, 0x1.3790e01eb42dfp-11, -0x1.b51586fc5f10dp-13,
       -0x1.d2fba4eed338fp-13, 0x1.67f7db2f45a49p-14, 0x1.b715d37df53bep-15, -0x1.c07684b8bb74ap-17,
       -0x1.1ea8536a9e48fp-17, 0x1.1caaf895f17fdp-25, 0x1.6689a4e5b64e8p-21, 0x1.69688b9abe28ap-23,
       0x1.693599c75ff7ap-26, 0x1.b506d1148d618p-30, 0x1.58462f6ee32f6p-34, 0x1.6e98b4126d061p-39},
      {-0x1.7fd7ada96240ep-15, 0x1.3068206679af1p-12, -0x1.e8870df67a6ap-14, -0x1.0945b1c89b0dep-13,
       0x1.5c46790686619p-14, 0x1.76f406166ecefp-16, -0x1.8d65153e00ee5p-16, -0x1.18f38df1922c6p-17,
       0x1.8b2afde4e9712p-19, -0x1.b5f45a45d32f1p-20, 0x1.310eb253b937bp-21, 0x1.679a7a1dea29bp-21,
       0x1.395e86966be25p-20, -0x1.baf9d0ea8056ep-18, -0x1.0eb83a0a06faep-20, 0x1.54e3b711b451fp-19},
  };
};
template <>
struct ErfTable<float> {
  static constexpr float shift = 0.75f;
  alignas(64) static constexpr float erfcx_middle[16] = {0x1.7ffefp0f,   0x1.000002p1f, 0x1.40007p1f,   0x1.7ffff2p1f,
                                                         0x1.e003ecp1f,  0x1.2fffc3p2f, 0x1.700023p2f,  0x1.afffe5p2f,
                                                         0x1.07ff378p3f, 0x1.47fff8p3f, 0x1.ffdep-5f,   0x1.7ffb8p-3f,
                                                         0x1.80018p-2f,  0x1.40006p-1f, 0x1.c00248p-1f, 0x1.1ffef8p0f};
  alignas(64) static constexpr float erfcx[7][16] = {
      {0x1.494e62p-2f, 0x1.05867p-2f, 0x1.afbabap-3f, 0x1.6e9834p-3f, 0x1.2a28a8p-3f, 0x1.dc6096p-4f, 0x1.8c13ep-4f,
       0x1.52b822p-4f, 0x1.1619ccp-4f, 0x1.c0cba6p-5f, 0x1.ddcf5cp-1f, 0x1.a36ca8p-1f, 0x1.5f2838p-1f, 0x1.1d168cp-1f,
       0x1.db730ep-2f, 0x1.9532dcp-2f},
      {-0x1.0482p-1f, -0x1.ac3258p-2f, -0x1.6924cp-2f, -0x1.370b3ep-2f, -0x1.006814p-2f, -0x1.9de0ecp-3f,
       -0x1.5a22a6p-3f, -0x1.291646p-3f, -0x1.e97344p-4f, -0x1.8be4d4p-4f, -0x1.158b16p0f, -0x1.00a0bep0f,
       -0x1.ca5892p-1f, -0x1.8d9044p-1f, -0x1.5c44f8p-1f, -0x1.3407aap-1f},
      {0x1.e4f858p-3f, 0x1.4f369ap-3f, 0x1.e48b8ep-4f, 0x1.6b7998p-4f, 0x1.f38f42p-5f, 0x1.4854c4p-5f, 0x1.cdc046p-6f,
       0x1.55511ep-6f, 0x1.d0aa6ap-7f, 0x1.30b828p-7f, 0x1.dd50eep-1f, 0x1.9fc4dap-1f, 0x1.541e1ep-1f, 0x1.07858ap-1f,
       0x1.9e8434p-2f, 0x1.4af13ep-2f},
      {-0x1.a36b6cp-4f, -0x1.efe338p-5f, -0x1.36ef66p-5f, -0x1.9a01a2p-6f, -0x1.da2f64p-7f, -0x1.ffaec4p-8f,
       -0x1.300514p-8f, -0x1.84503ep-9f, -0x1.b615d4p-10f, -0x1.d2eecp-11f, -0x1.5e282p-1f, -0x1.22325ep-1f,
       -0x1.b90edap-2f, -0x1.367c02p-2f, -0x1.bd1a1ep-3f, -0x1.450036p-3f},
      {0x1.54c6e2p-5f, 0x1.5d059ap-6f, 0x1.7f7ad8p-7f, 0x1.bfcbbcp-8f, 0x1.b77686p-9f, 0x1.880598p-10f, 0x1.8b61ep-11f,
       0x1.b59cfp-12f, 0x1.9a5f66p-13f, 0x1.643078p-14f, 0x1.c75cep-2f, 0x1.69588ap-2f, 0x1.016992p-2f, 0x1.4cff44p-3f,
       0x1.b78d88p-4f, 0x1.284056p-4f},
      {-0x1.09bbe4p-6f, -0x1.db81bp-8f, -0x1.cb8b52p-9f, -0x1.dc50bcp-10f, -0x1.968f9p-11f, -0x1.2bc17p-12f,
       -0x1.00775cp-13f, -0x1.ebc57ap-15f, -0x1.86d086p-16f, -0x1.130b22p-17f, -0x1.13a842p-2f, -0x1.9e45a6p-3f,
       -0x1.15891ep-3f, -0x1.4b148ep-4f, -0x1.96863p-5f, -0x1.fe4268p-6f},
      {0x1.83d3aep-8f, 0x1.32efecp-9f, 0x1.073abp-10f, 0x1.e8ba4cp-12f, 0x1.6716bap-13f, 0x1.bbe958p-15f,
       0x1.44edb6p-16f, 0x1.0f2898p-17f, 0x1.6849d8p-19f, 0x1.9fcf6ep-21f, 0x1.3fa5fp-3f, 0x1.b8a01ep-4f,
       0x1.140996p-4f, 0x1.32170cp-5f, 0x1.5fdc7ep-6f, 0x1.9d4918p-7f},
  };
  static constexpr float erf_width = 0x1.07fe09p-2f, inv_erf_width = 0x1.f07fd2p1f, erf_last = 0x1.f8p1f,
                         erf_whole = 0x1.8bfd0ep-2f;
  alignas(64) static constexpr float erf[6][16] = {
      {0, 0x1.b6bd36p-6f, 0x1.1176ep-1f, 0x1.73af2ep-1f, 0x1.b5e4a8p-1f, 0x1.dd067ap-1f, 0x1.f14de6p-1f, 0x1.fa84b2p-1f,
       0x1.fe305ep-1f, 0x1.ff7892p-1f, 0x1.ffdd14p-1f, 0x1.fff80ep-1f, 0x1.fffe68p-1f, 0x1.ffffb8p-1f, 0x1.fffff4p-1f,
       0x1.fffffep-1f},
      {0x1.06eba8p-3f, 0x1.c949c2p-5f, 0x1.badc1ep-1f, 0x1.3da542p-1f, 0x1.8ef388p-2f, 0x1.b6b33p-3f, 0x1.a65cfp-4f,
       0x1.640536p-5f, 0x1.06beb4p-6f, 0x1.538af4p-8f, 0x1.802bf8p-10f, 0x1.7c9038p-12f, 0x1.4a10a2p-14f,
       0x1.f54574p-17f, 0x1.4d4362p-19f, 0x1.83f98p-22f},
      {0x1.29988ap-22f, -0x1.16b936p-2f, -0x1.c8ae16p-2f, -0x1.eb5726p-2f, -0x1.9b688cp-2f, -0x1.1abf82p-2f,
       -0x1.46a8c4p-3f, -0x1.414032p-4f, -0x1.0ee4ccp-5f, -0x1.89aad4p-7f, -0x1.ef83d2p-9f, -0x1.0bf20ep-10f,
       -0x1.f398c8p-13f, -0x1.992826p-15f, -0x1.77f592p-19f, 0x1.131712p-19f},
      {-0x1.812b4p-2f, -0x1.3883bap-2f, -0x1.1492c2p-3f, 0x1.4c925ap-5f, 0x1.2bb14p-3f, 0x1.53ba08p-3f, 0x1.0a787p-3f,
       0x1.47276ap-4f, 0x1.48c222p-5f, 0x1.145d32p-6f, 0x1.8987bap-8f, 0x1.de56a4p-10f, 0x1.f2e9cep-12f,
       0x1.c0335cp-14f, 0x1.5bc0cp-16f, 0x1.d30ae4p-19f},
      {0x1.2a90d2p-12f, 0x1.0868aap-3f, 0x1.756cb4p-3f, 0x1.263ec6p-3f, 0x1.e0c71cp-5f, -0x1.da11bcp-7f,
       -0x1.82cef8p-5f, -0x1.768d1ap-5f, -0x1.f6d88ep-6f, -0x1.05b81ap-6f, -0x1.a4273ep-8f, -0x1.55e972p-9f,
       -0x1.dffa9ep-11f, -0x1.dd255cp-13f, -0x1.5bed22p-12f, -0x1.698656p-13f},
      {0x1.c68bc4p-4f, 0x1.4537f6p-4f, 0x1.0a8368p-8f, -0x1.cc0684p-5f, -0x1.14e2b2p-4f, -0x1.58f106p-5f,
       -0x1.430e14p-7f, 0x1.27a86ap-7f, 0x1.a7677ep-7f, 0x1.331d2p-7f, 0x1.413fp-8f, 0x1.0811cep-9f, 0x1.629002p-11f,
       0x1.8c4cdep-13f, 0x1.7532d4p-15f, 0x1.2a7ab6p-17f},
  };
};

}  // namespace WENGERT_ISA
}  // namespace wengert::kernels
