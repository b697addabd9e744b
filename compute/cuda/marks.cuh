// The ends of a pass's stages, measured on the device and converted to the host's clock.
// Two ways behind the same functions: the last kernel of a stage writes the device's own
// time into memory that the host sees (no call, and visible at once), or a graph records
// an event at every launch. The device's clock is tied to
// the host's by what must hold of every mark: it was made after its launch began and
// before it was seen.
#ifndef COMPUTE_CUDA_MARKS_CUH
#define COMPUTE_CUDA_MARKS_CUH

#include "compute/cuda/device.cuh"

extern "C" {
#include "compute/backend/backend.h"
}

enum marks_kind { MARKS_TIMER, MARKS_EVENTS };

struct marks;

// Stages 0 .. count - 1, of which `which` are marked: nothing is put on the stream for
// the others. Events need one more than marks, the pass's start. Owner: marks_destroy,
// NULL is fine.
bool marks_create(struct marks **out, int count, enum marks_kind kind, enum backend_marks which,
                  cudaStream_t stream, struct why *why);
void marks_destroy(struct marks *marks);

bool marks_has(const struct marks *marks, int stage);

// Call before a pass's first launch, when the stream is empty.
void marks_begin(struct marks *marks);

// Between begin and end of a capture of the stream.
void marks_capture(struct marks *marks, bool is_on);

// Puts the start of a pass on the stream; part of what is captured.
bool marks_start(struct marks *marks, struct why *why);

// The argument for the last kernel of the stage. Slot NULL: it need not write.
struct stamp marks_stamp(const struct marks *marks, int stage);

// Puts the end of the stage on the stream, after its last kernel; is_stamped: that
// kernel was given the stamp.
bool marks_put(struct marks *marks, int stage, bool is_stamped, struct why *why);

// Waits for the end of a stage that is marked; end_ns on stopwatch_now_ns()'s clock,
// never before that of the mark before. With events: waits for the whole stream.
// false: the device failed.
bool marks_wait(struct marks *marks, int64_t *end_ns, int stage, struct why *why);

// Resolution of the marks: the smallest step of the device's clock, measured at opening,
// or the documented one of events. 0: no marks.
int64_t marks_step_ns(const struct marks *marks);

#endif
