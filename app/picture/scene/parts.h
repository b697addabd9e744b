// What the scene's files share; nobody else includes it.
#ifndef APP_PICTURE_SCENE_PARTS_H
#define APP_PICTURE_SCENE_PARTS_H

#include "app/picture/scene/scene.h"
#include "compute/run/moment.h"

// Fills tokens[] and token_count from prompt and answers measured out.
void scene_put_tokens(struct view *view, const struct run_moment *now);

// Captions, stamps, clock labels, read-outs.
void scene_put_words(struct view *view, const struct run_moment *now,
                     const struct scene_options *options);

#endif
