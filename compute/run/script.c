#include "compute/run/script.h"

int script_pick(const struct script *script, int index, int wanted) {
    int between = script->count - script->front - script->back;
    if (wanted <= script->count)
        return index;
    if (index < script->front)
        return 0;
    if (index >= wanted - script->back)
        return script->count - 1;
    return between > 0 ? script->front + (index - script->front) % between : -1;
}
