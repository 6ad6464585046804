// Standard output and standard error.
#pragma once

#include <string_view>

namespace wengert::command {

enum class Stream : int { out = 1, error = 2 };

/// Makes sure that descriptors 0 to 2 are taken: a file opened later must not become our standard output.
void reserve_standard_streams();

/// Writes all of it. On standard output a closed pipe is a Failure without a message (nobody is reading), anything else
/// one that says why. Errors of standard error are ignored: there is nowhere to report them.
void print(Stream stream, std::string_view text);

/// "wengert: ..." on standard error; line breaks in the text become spaces.
void complain(std::string_view text);

bool is_terminal(Stream stream);
/// Columns of a terminal, 80 if it doesn't say.
int terminal_width(Stream stream);
/// Terminal that knows escape sequences: not TERM=dumb.
bool has_escapes(Stream stream);
/// Such a terminal, without NO_COLOR (https://no-color.org).
bool has_colour(Stream stream);

}  // namespace wengert::command
