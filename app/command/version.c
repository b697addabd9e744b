// See version.h. Library versions are asked for at run time: those are the ones that draw
// and encode.
#include "app/command/version.h"

#include "app/options/options.h"
#include "compute/backend/load.h"
#include "compute/base/why.h"
#include "render/film/sink.h"

#include <SDL.h>
#include <SDL_ttf.h>

#ifndef TOKENDRIP_VERSION
#define TOKENDRIP_VERSION "unknown version"
#endif

int version_command(void) {
    char formats[1024];
    SDL_version sdl;
    SDL_GetVersion(&sdl);
    const SDL_version *ttf = TTF_Linked_Version();
    sink_describe(formats, sizeof formats);
    printf("tokendrip %s\n", TOKENDRIP_VERSION);
    printf("SDL %d.%d.%d, SDL_ttf %d.%d.%d\n", sdl.major, sdl.minor, sdl.patch, ttf->major,
           ttf->minor, ttf->patch);
    struct why why;
    bool has_cuda = backend_load_cuda(&why) != NULL;
    printf("measures on: cpu%s (see tokendrip devices)\n", has_cuda ? ", cuda" : "");
    printf("records:\n%s\n", formats);
    return EXIT_OK;
}
