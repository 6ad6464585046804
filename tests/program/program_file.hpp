// A program's file as bytes, to be taken apart and put together again.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

#include "wengert/serialize.hpp"

namespace wengert::test {

template <class Real>
std::string saved(const Program<Real>& program) {
  std::ostringstream stream;
  program.save(stream);
  return stream.str();
}

template <class Real>
Program<Real> loaded(const std::string& file) {
  return load_program<Real>(std::as_bytes(std::span(file)));
}

/// CRC-64/XZ, bit by bit.
inline std::uint64_t crc64(const std::string& bytes) {
  std::uint64_t crc = ~std::uint64_t(0);
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xc96c5795d7870f42u : 0);
  }
  return ~crc;
}

inline std::string little_endian(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (std::size_t k = 0; k < bytes; ++k) text.push_back(static_cast<char>(number >> (8 * k) & 255));
  return text;
}

inline constexpr std::size_t header_bytes = 24;

/// The part of a file that its header and checksum are around.
inline std::string body_of(const std::string& file) {
  return file.substr(header_bytes, file.size() - header_bytes - 8);
}

/// A file around any body, with a length and a checksum that are right.
inline std::string file_around(const std::string& body, std::uint32_t real_bytes = 8, std::uint32_t version = 1) {
  std::string file("\x89WNG\r\n\x1a\n", 8);
  file += little_endian(version, 4) + little_endian(real_bytes, 4) + little_endian(body.size(), 8) + body;
  return file + little_endian(crc64(file), 8);
}

}  // namespace wengert::test
