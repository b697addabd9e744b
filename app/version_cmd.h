// `tokendrip --version`: the version, and what is built in.
#ifndef APP_VERSION_CMD_H
#define APP_VERSION_CMD_H

// Returns the exit code.
int version_command(void);

#endif
