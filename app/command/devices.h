// `tokendrip devices`: what can measure here, and why the rest cannot.
#ifndef APP_COMMAND_DEVICES_H
#define APP_COMMAND_DEVICES_H

// Returns the exit code.
int devices_command(void);

#endif
