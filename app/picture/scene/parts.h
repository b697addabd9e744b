// What the scene's files share; nobody else includes it. `seen` is the state of
// the run at one moment, worked out once.
#ifndef APP_PICTURE_SCENE_PARTS_H
#define APP_PICTURE_SCENE_PARTS_H

#include "app/picture/scene/scene.h"

struct scene_seen {
    const struct run *run;
    const struct scene_options *options;
    int64_t t_ns;      // the moment: not past the last mark of an open run
    int64_t shown_ns;  // what TIME says: 0 .. end of the run
    int marks;         // stages finished
    int passes_done;   // passes whose output mark has come
    int pass;          // the pass under way, -1 = none
    int answers;       // answer tokens measured out
    int cache_entries; // complete columns
    bool prefill_done; // the last prefill pass is done
    bool at_end;       // the run is complete and the moment at or past its end
};

// Fills tokens[] and token_count from prompt and answers measured out.
void scene_put_tokens(struct view *view, const struct scene_seen *seen);

// Captions, stamps, clock labels, read-outs.
void scene_put_words(struct view *view, const struct scene_seen *seen);

#endif
