// The model files of a machine, in a made home: each program's folders, what is a model and
// what is not, and which file a name means.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/runs/modelfile.h"
#include "app/runs/models.h"
#include "compute/base/why.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 512 };

static char home[PATH];

// Writes a file below the home, and the folders that it lies in.
static void put(const char *name, const char *text) {
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/%s", home, name);
    for (char *slash = strchr(path + strlen(home) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

static void put_manifest(const char *name, const char *digest) {
    char path[PATH], text[PATH];
    snprintf(path, sizeof path, ".ollama/models/manifests/%s", name);
    snprintf(text, sizeof text,
             "{\"schemaVersion\":2,\"layers\":[{\"mediaType\":\"application/vnd.ollama.image."
             "license\",\"digest\":\"sha256:11\",\"size\":2},{\"mediaType\":\"application/vnd."
             "ollama.image.model\",\"digest\":\"sha256:%s\",\"size\":3}]}",
             digest);
    put(path, text);
}

static void set_folder(const char *variable, const char *name) {
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/%s", home, name);
    setenv(variable, path, 1);
}

static int make_home(void **state) {
    static const char *const variables[] = {"OLLAMA_MODELS", "LLAMA_CACHE", "HF_HUB_CACHE",
                                            "HF_HOME", "XDG_CACHE_HOME"};
    (void)state;
    snprintf(home, sizeof home, "/tmp/tokendrip-models-XXXXXX");
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    return mkdtemp(home) && setenv("HOME", home, 1) == 0 ? 0 : -1;
}

static int remove_home(void **state) {
    char command[2 * PATH];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", home);
    return system(command);
}

// Those in the home: the machine may have others.
static struct models find(const char *folder) {
    struct models all;
    struct why why = {0};
    if (!models_find(&all, folder, &why))
        fail_msg("%s", why.text);
    int kept = 0;
    for (int i = 0; i < all.count; i++) {
        if (strncmp(all.list[i].path, home, strlen(home)) == 0) {
            all.list[kept++] = all.list[i];
            continue;
        }
        free(all.list[i].full_name);
        free(all.list[i].path);
    }
    all.count = kept;
    return all;
}

static void assert_file(const struct models *models, int index, enum models_where where,
                        const char *name, const char *path) {
    assert_true(index < models->count);
    const struct models_file *file = &models->list[index];
    assert_string_equal(file->name, name);
    assert_string_equal(file->path + strlen(home) + 1, path);
    assert_int_equal(file->where, where);
}

static void every_program_s_models_are_found_under_their_names(void **state) {
    (void)state;
    put_manifest("registry.ollama.ai/library/llama3.2/1b", "aa");
    put_manifest("registry.ollama.ai/someone/tiny/latest", "aa");
    put_manifest("hf.co/maker/Repo-GGUF/Q4_K_M", "bb");
    put(".ollama/models/blobs/sha256-aa", "four");
    put(".ollama/models/blobs/sha256-bb", "four");
    put(".lmstudio/models/maker/Repo-GGUF/Gemma-Q4_K_M.gguf", "12345");
    put(".cache/lm-studio/models/maker/Repo/Old.GGUF", "1");
    put(".cache/llama.cpp/org_Repo_Phi.gguf", "1");
    put(".cache/huggingface/hub/models--org--Re--Qwen3/snapshots/c0ffee/sub/qwen3.gguf", "1");
    put("Downloads/SmolLM2.gguf", "1");
    struct models models = find(NULL);
    assert_int_equal(models.count, 8);
    const char *blob = ".ollama/models/blobs/sha256-aa";
    assert_file(&models, 0, MODELS_OLLAMA, "hf.co/maker/Repo-GGUF:Q4_K_M",
                ".ollama/models/blobs/sha256-bb");
    assert_file(&models, 1, MODELS_OLLAMA, "llama3.2:1b", blob);
    assert_file(&models, 2, MODELS_OLLAMA, "someone/tiny:latest", blob);
    assert_file(&models, 3, MODELS_LM_STUDIO, "Gemma-Q4_K_M",
                ".lmstudio/models/maker/Repo-GGUF/Gemma-Q4_K_M.gguf");
    assert_file(&models, 4, MODELS_LM_STUDIO, "Old", ".cache/lm-studio/models/maker/Repo/Old.GGUF");
    assert_file(&models, 5, MODELS_LLAMA_CPP, "org_Repo_Phi", ".cache/llama.cpp/org_Repo_Phi.gguf");
    assert_file(&models, 6, MODELS_HUGGING_FACE, "qwen3",
                ".cache/huggingface/hub/models--org--Re--Qwen3/snapshots/c0ffee/sub/qwen3.gguf");
    assert_string_equal(models.list[6].full_name, "org/Re/Qwen3/sub/qwen3");
    assert_file(&models, 7, MODELS_DOWNLOADS, "SmolLM2", "Downloads/SmolLM2.gguf");
    assert_int_equal(models.list[1].bytes, 4);
    assert_int_equal(models.list[3].bytes, 5);
    assert_false(models.is_cut);
    models_clear(&models);
}

static void variables_name_other_folders(void **state) {
    (void)state;
    set_folder("OLLAMA_MODELS", "a");
    set_folder("LLAMA_CACHE", "b");
    set_folder("HF_HOME", "c");
    set_folder("HF_HUB_CACHE", "d");
    set_folder("XDG_CACHE_HOME", "e");
    put("a/manifests/registry.ollama.ai/library/m/latest",
        "{\"layers\":[{\"mediaType\":\"application/vnd.ollama.image.model\","
        "\"digest\":\"sha256-cc\"}]}");
    put("a/blobs/sha256-cc", "1");
    put("b/one.gguf", "1");
    put("c/hub/models--o--r/snapshots/1/two.gguf", "1");
    put("d/models--o--r/snapshots/1/three.gguf", "1");
    put("e/llama.cpp/four.gguf", "1");
    put("e/huggingface/hub/models--o--r/snapshots/1/five.gguf", "1");
    struct models models = find(NULL);
    assert_int_equal(models.count, 6);
    assert_file(&models, 0, MODELS_OLLAMA, "m:latest", "a/blobs/sha256-cc");
    assert_file(&models, 1, MODELS_LLAMA_CPP, "four", "e/llama.cpp/four.gguf");
    assert_file(&models, 2, MODELS_LLAMA_CPP, "one", "b/one.gguf");
    models_clear(&models);
}

static void what_is_no_model_is_left_out(void **state) {
    (void)state;
    put_manifest("registry.ollama.ai/library/gone/latest", "missing");
    put_manifest("registry.ollama.ai/library/out/latest", "../../../../etc/passwd");
    put(".ollama/models/manifests/registry.ollama.ai/library/elsewhere/latest",
        "{\"layers\":[{\"mediaType\":\"application/vnd.ollama.image.model\",\"digest\":\"../"
        "notes\"}]}");
    put(".ollama/models/blobs/other", "1");
    put(".ollama/models/notes", "1");
    put(".ollama/models/manifests/registry.ollama.ai/library/broken/latest", "{\"layers\":[{");
    put(".ollama/models/manifests/registry.ollama.ai/library/list/latest", "[1]");
    put(".lmstudio/models/maker/Repo/mmproj-model-f16.gguf", "1");
    put(".lmstudio/models/maker/Repo/notes.txt", "1");
    put(".lmstudio/models/maker/Repo/.hidden.gguf", "1");
    put(".lmstudio/models/maker/Repo/model.gguf.part", "1");
    put("Downloads/deeper/model.gguf", "1");
    struct models models = find(NULL);
    assert_int_equal(models.count, 0);
    models_clear(&models);
}

static void a_split_model_is_one_entry_with_its_parts(void **state) {
    (void)state;
    put("Downloads/big-00001-of-00003.gguf", "12");
    put("Downloads/big-00002-of-00003.gguf", "123");
    put("Downloads/big-00003-of-00003.gguf", "1234");
    put("Downloads/rest-00002-of-00002.gguf", "1");
    put("Downloads/x-00001-of-00001.gguf", "1");
    struct models models = find(NULL);
    assert_int_equal(models.count, 2);
    assert_file(&models, 0, MODELS_DOWNLOADS, "big", "Downloads/big-00001-of-00003.gguf");
    assert_int_equal(models.list[0].parts, 3);
    assert_int_equal(models.list[0].bytes, 9);
    assert_int_equal(models.list[1].parts, 1);
    models_clear(&models);
}

static void links_to_one_file_are_one_entry(void **state) {
    char from[2 * PATH], to[2 * PATH];
    (void)state;
    put(".cache/huggingface/hub/models--o--r/snapshots/1/m.gguf", "1");
    put(".cache/huggingface/hub/models--o--r/snapshots/2/other.gguf", "1");
    snprintf(from, sizeof from, "%s/.cache/huggingface/hub/models--o--r/snapshots/1/m.gguf", home);
    snprintf(to, sizeof to, "%s/.cache/huggingface/hub/models--o--r/snapshots/2/m.gguf", home);
    assert_int_equal(symlink(from, to), 0);
    // A folder that holds itself ends at the depth of its place.
    snprintf(from, sizeof from, "%s/.cache/huggingface/hub/models--o--r", home);
    snprintf(to, sizeof to, "%s/.cache/huggingface/hub/models--o--r/circle", home);
    assert_int_equal(symlink(from, to), 0);
    struct models models = find(NULL);
    assert_int_equal(models.count, 2);
    models_clear(&models);
}

static void of_two_versions_the_one_changed_last_counts(void **state) {
    static const char *const paths[] = {
        ".cache/huggingface/hub/models--o--r/snapshots/1/m.gguf",
        ".cache/huggingface/hub/models--o--r/snapshots/2/m.gguf",
    };
    (void)state;
    for (int newest = 0; newest < 2; newest++) {
        for (int i = 0; i < 2; i++) {
            char path[2 * PATH];
            put(paths[i], i ? "12" : "1");
            snprintf(path, sizeof path, "%s/%s", home, paths[i]);
            struct timespec times[2] = {{1000 + (i == newest), 0}, {1000 + (i == newest), 0}};
            assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
        }
        struct models models = find(NULL);
        assert_int_equal(models.count, 1);
        assert_file(&models, 0, MODELS_HUGGING_FACE, "m", paths[newest]);
        assert_int_equal(models.list[0].bytes, newest + 1);
        models_clear(&models);
    }
}

static void a_folder_s_files_are_named_by_their_paths(void **state) {
    char folder[2 * PATH], path[3 * PATH];
    struct models models;
    struct why why;
    (void)state;
    put("course/week1/a.gguf", "1");
    snprintf(folder, sizeof folder, "%s/course/", home);
    snprintf(path, sizeof path, "%s/course/week1/a.gguf", home);
    models = find(folder);
    assert_int_equal(models.count, 1);
    assert_int_equal(models.list[0].where, MODELS_FOLDER);
    assert_string_equal(models.list[0].name, path);
    models_clear(&models);
    assert_false(models_find(&models, path, &why));
    assert_non_null(strstr(why.text, "is no folder"));
}

static void assert_means(const struct models *models, const char *name, const char *full_name) {
    struct why why = {0};
    const struct models_file *file = models_choose(models, name, &why);
    if (!file)
        fail_msg("%s", why.text);
    assert_string_equal(file->full_name, full_name);
}

static void assert_unclear(const struct models *models, const char *name, const char *says) {
    struct why why = {0};
    assert_null(models_choose(models, name, &why));
    if (strcmp(why.text, says) != 0)
        fail_msg("\"%s\" instead of \"%s\"", why.text, says);
}

static void a_name_means_one_file_or_says_which_are_near(void **state) {
    (void)state;
    put_manifest("registry.ollama.ai/library/llama3.2/latest", "aa");
    put_manifest("registry.ollama.ai/library/llama3.2/1b", "aa");
    put_manifest("registry.ollama.ai/someone/llama3.2/latest", "aa");
    put(".ollama/models/blobs/sha256-aa", "1");
    put(".lmstudio/models/one/Repo/Model-Q8_0.gguf", "1");
    put(".lmstudio/models/two/Repo/Model-Q8_0.gguf", "1");
    put(".lmstudio/models/two/Repo/Gemma-3-270M-Q4_K_M.gguf", "1");
    struct models models = find(NULL);
    assert_int_equal(models.count, 6);
    assert_string_equal(models.list[4].name, "one/Repo/Model-Q8_0");
    assert_means(&models, "llama3.2", "llama3.2:latest");
    assert_means(&models, "LLAMA3.2:1B", "llama3.2:1b");
    assert_means(&models, "someone/llama3.2", "someone/llama3.2:latest");
    assert_means(&models, "gemma-3-270m-q4_k_m.gguf", "two/Repo/Gemma-3-270M-Q4_K_M");
    assert_means(&models, "one/Repo/Model-Q8_0", "one/Repo/Model-Q8_0");
    assert_unclear(&models, "Model-Q8_0",
                   "Model-Q8_0 means 2 models. Take one of one/Repo/Model-Q8_0, "
                   "two/Repo/Model-Q8_0.");
    assert_unclear(&models, "gemma-3-270m",
                   "no file and no model is called gemma-3-270m. Did you mean "
                   "Gemma-3-270M-Q4_K_M?");
    assert_unclear(&models, "zzz.gguf",
                   "no file and no model is called zzz.gguf. tokendrip models lists them.");
    models_clear(&models);
    assert_unclear(&models, "zzz.gguf",
                   "zzz.gguf: cannot be opened: there is no such file, and no other program's "
                   "models are on this machine.");
}

static void a_path_wins_over_a_name(void **state) {
    char out[MODELS_PATH_BYTES], wanted[2 * PATH];
    struct why why = {0};
    (void)state;
    put("Downloads/mine.gguf", "1");
    snprintf(wanted, sizeof wanted, "%s/Downloads/mine.gguf", home);
    assert_string_equal(models_path(out, "mine", &why), wanted);
    assert_int_equal(chdir(home), 0);
    put("mine", "1");
    assert_string_equal(models_path(out, "mine", &why), "mine");
    assert_null(models_path(out, NULL, &why));
    assert_string_equal(why.text, "");
    assert_null(models_path(out, "nowhere.gguf", &why));
    assert_int_equal(chdir("/"), 0);
}

static void a_look_says_architecture_type_and_why_a_file_does_not_open(void **state) {
    struct modelfile about;
    char path[2 * PATH];
    (void)state;
    modelfile_look(&about, TOKENDRIP_SOURCE_DIR "/assets/model/tokendrip.gguf", 1);
    assert_string_equal(about.architecture, "llama");
    assert_string_equal(about.types[0].name, "F16");
    assert_int_equal(about.type_count, 2);
    assert_int_equal(about.types[0].bytes + about.types[1].bytes, about.weight_bytes);
    assert_int_equal(about.parameters, 2755776);
    assert_int_equal(about.layers, 8);
    assert_int_equal(about.heads, 6);
    assert_int_equal(about.kv_heads, 2);
    assert_int_equal(about.head_width, 32);
    assert_int_equal(about.vocabulary, 1024);
    assert_int_equal(about.context, 1280);
    assert_string_equal(about.tokenizer, "SentencePiece");
    assert_string_equal(about.pre, "");
    assert_string_equal(about.chat, "");
    assert_int_equal(about.obstacle_count, 0);
    assert_string_equal(about.obstacles[0].text, "");
    put("broken.gguf", "GGUF");
    snprintf(path, sizeof path, "%s/broken.gguf", home);
    modelfile_look(&about, path, 1);
    assert_string_equal(about.architecture, "");
    assert_string_equal(about.name, "");
    assert_non_null(strstr(about.obstacles[0].text, "broken.gguf: cut short"));
}

#define IN_HOME(test) cmocka_unit_test_setup_teardown(test, make_home, remove_home)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_HOME(every_program_s_models_are_found_under_their_names),
        IN_HOME(variables_name_other_folders),
        IN_HOME(what_is_no_model_is_left_out),
        IN_HOME(a_split_model_is_one_entry_with_its_parts),
        IN_HOME(links_to_one_file_are_one_entry),
        IN_HOME(of_two_versions_the_one_changed_last_counts),
        IN_HOME(a_folder_s_files_are_named_by_their_paths),
        IN_HOME(a_name_means_one_file_or_says_which_are_near),
        IN_HOME(a_path_wins_over_a_name),
        IN_HOME(a_look_says_architecture_type_and_why_a_file_does_not_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
