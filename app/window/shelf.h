// The list of models that the window offers: the bundled one, the one that was given or is open
// where no folder has it, and what other programs keep on this machine.
#ifndef APP_WINDOW_SHELF_H
#define APP_WINDOW_SHELF_H

#include "app/runs/modelfile.h"
#include "app/runs/models.h"
#include "app/runs/request.h"
#include "app/state/at_hand.h"

// A zeroed one is empty.
struct shelf {
    struct models found;
    struct at_hand_model *list; // owned
    const char **paths;         // of each, borrowed or `given`; NULL = the bundled model
    int count;
    char *given; // a path, owned, or NULL
    int focus;   // the model that `about` is of, -1 = none
    struct modelfile about;
};

// Looks anew. `request`: of the model that is open. `given`: a file that has to be in the list,
// NULL = none. Returns its index, without one that of the open model, else 0; -1: no memory.
int shelf_find(struct shelf *shelf, const struct run_request *request, const char *given);
void shelf_clear(struct shelf *shelf);

// Reads the header of one, unless it was the last one read. Cost: as modelfile_look.
void shelf_look(struct shelf *shelf, int index);

// Keeps a reason that only opening it showed.
void shelf_refuse(struct shelf *shelf, int index, const char *why);

// Fills the fields of the models.
void shelf_put(struct at_hand *at, const struct shelf *shelf);

#endif
