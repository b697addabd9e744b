// `tokendrip devices`: what can measure here, and why the rest cannot.
#ifndef APP_DEVICES_CMD_H
#define APP_DEVICES_CMD_H

// Returns the exit code.
int devices_command(void);

#endif
