// Signals: a run that is asked to stop ends after the repetition at hand and keeps what is complete.
#pragma once

namespace wengert::command {

/// Writing into a closed pipe or past a file size limit becomes an error code. All subcommands.
void ignore_write_signals();

/// From here on Ctrl-C and TERM are remembered instead of ending the process. The second of a kind ends it at once.
void remember_stop_signals();

/// The signal that came, 0 if none.
int stop_signal();

}  // namespace wengert::command
