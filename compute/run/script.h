// Which of a list of token texts stand for as many tokens as are wanted: control tokens at
// either end of the list keep their places, and what lies between them is repeated.
#ifndef COMPUTE_RUN_SCRIPT_H
#define COMPUTE_RUN_SCRIPT_H

struct script {
    int count;       // texts
    int front, back; // control tokens at either end, 0 or 1
};

// The text for token `index` of `wanted`, 0 .. count - 1; -1: there is none to repeat. A
// list that is long enough is cut at its end.
int script_pick(const struct script *script, int index, int wanted);

#endif
