// `tokendrip --version`: the version, and what is built in.
#ifndef APP_COMMAND_VERSION_H
#define APP_COMMAND_VERSION_H

// Returns the exit code.
int version_command(void);

#endif
