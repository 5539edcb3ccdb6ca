/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/explain.c - `causeway explain`: why messages between two workers go
 * the way they go.
 *
 * By default the two are this process and a child of it, which have really
 * exchanged a message (explain_pair.c), so that each knows what it may do to
 * the other's memory. libucp does the explaining. */
#include "tools/explain.h"

#include "tools/options.h"
#include "tools/tool.h"

#include <ctype.h>
#include <dlfcn.h>
#include <string.h>

enum { EXPLAIN_ADDRESS_BYTES_MAX = 4096 };

struct explain_options {
    const char *address;
    const char *operation;
    const char *mode;
    const char *datatype;
    const char *memory;
    const char *recv_datatype;
    size_t      bytes;
    bool        has_bytes;
    size_t      piece_bytes;
    bool        has_piece_bytes;
    bool        json;
    bool        own_address;
};

#define EXPLAIN_FIELD(_name) offsetof(struct explain_options, _name)

static bool explain_set_size(const char *text, void *field, char *why,
                             size_t why_bytes);
static bool explain_set_piece_size(const char *text, void *field, char *why,
                                   size_t why_bytes);

static const struct tool_option explain_option_rows[] = {
    {"size", "BYTES", "Only messages of this size: 8, 64k, 1m.",
     TOOL_OPTION_CUSTOM, 0, 0, 0, explain_set_size},
    {"op", "NAME",
     "Operation: tag. Default: tag. Those that libucp cannot do\n"
     "yet (am, stream, put, get, atomic) are refused.",
     TOOL_OPTION_TEXT, EXPLAIN_FIELD(operation), 0, 0, NULL},
    {"mode", "NAME", "standard, sync, ready or buffered. Default: all.",
     TOOL_OPTION_TEXT, EXPLAIN_FIELD(mode), 0, 0, NULL},
    {"datatype", "NAME",
     "contig, iov, iov-long (more entries than the lane\n"
     "takes at once), generic or strided. Default: all.",
     TOOL_OPTION_TEXT, EXPLAIN_FIELD(datatype), 0, 0, NULL},
    {"piece-size", "BYTES",
     "What a piece of an iov or of strided data has on average.\n"
     "Default: 4096.",
     TOOL_OPTION_CUSTOM, 0, 0, 0, explain_set_piece_size},
    {"receiver-datatype", "NAME",
     "The receiver's, who has the final word. Default: left open.",
     TOOL_OPTION_TEXT, EXPLAIN_FIELD(recv_datatype), 0, 0, NULL},
    {"memory", "NAME",
     "Memory of the buffers: host, or mapped by ucp_mem_map.\n"
     "Default: host.",
     TOOL_OPTION_TEXT, EXPLAIN_FIELD(memory), 0, 0, NULL},
    {"address", "FILE|HEX",
     "Explain an endpoint to this worker address, as\n"
     "ucp_worker_get_address() gave it: a file, or its bytes in\n"
     "hexadecimal. No endpoint is made.",
     TOOL_OPTION_TEXT, EXPLAIN_FIELD(address), 0, 0, NULL},
    {"own-address", NULL,
     "Print the address of a worker of this command, for\n"
     "--address, and end.",
     TOOL_OPTION_FLAG, EXPLAIN_FIELD(own_address), 0, 0, NULL},
    {"json", NULL, "One JSON object a line.", TOOL_OPTION_FLAG,
     EXPLAIN_FIELD(json), 0, 0, NULL},
    {0},
};

static const struct tool_command explain_command = {
    .usage = "explain [OPTION...]",
    .summary =
        "Show which lanes connect two workers of this host, why each other "
        "interface was\nrefused, what each side may do to the other one's "
        "memory, which protocol carries\nmessages of which size, what that "
        "costs, and why each other protocol lost.\nSettings in [brackets] "
        "change the line they stand on.",
    .options = explain_option_rows,
    .after   = "Examples:\n"
               "  causeway explain --mode standard --datatype contig\n"
               "  UCX_RNDV_THRESH=8k causeway explain --size 64k\n"
               "  causeway explain --json | jq 'select(.record==\"lane\")'",
};

/* [digits] and one of k, m, g. */
static bool explain_read_size(const char *text, size_t *bytes_p, char *why,
                              size_t why_bytes)
{
    static const char units[]    = "kmg";
    char              digits[24] = "";
    size_t            length     = strlen(text);
    uint64_t          value      = 0;
    const char       *unit       = NULL;
    unsigned          shift      = 0;

    if ((length > 0) && (length < sizeof(digits))) {
        memcpy(digits, text, length + 1);
        unit = strchr(units, tolower((unsigned char)text[length - 1]));
    }
    if (unit != NULL) {
        digits[length - 1] = '\0';
        shift              = 10 * ((unsigned)(unit - units) + 1);
    }
    if (!tool_parse_u64(digits, &value) ||
        ((value << shift) >> shift != value)) {
        (void)snprintf(why, why_bytes, "a size: 8, 64k, 1m, 2g");
        return false;
    }
    *bytes_p = value << shift;
    return true;
}

static bool explain_set_size(const char *text, void *field, char *why,
                             size_t why_bytes)
{
    struct explain_options *options = field;

    options->has_bytes =
        explain_read_size(text, &options->bytes, why, why_bytes);
    return options->has_bytes;
}

static bool explain_set_piece_size(const char *text, void *field, char *why,
                                   size_t why_bytes)
{
    struct explain_options *options = field;

    options->has_piece_bytes =
        explain_read_size(text, &options->piece_bytes, why, why_bytes);
    return options->has_piece_bytes;
}

/* Bytes from pairs of hexadecimal digits, blanks passed over.
 * @return how many; 0: it is something else. */
static size_t explain_from_hex(const char *text, size_t length, uint8_t *bytes)
{
    size_t count = 0;
    int    high  = -1;

    for (size_t i = 0; i < length; ++i) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = strchr(digits, tolower((unsigned char)text[i]));

        if (isspace((unsigned char)text[i])) {
            continue;
        }
        if ((text[i] == '\0') || (digit == NULL) ||
            (count == EXPLAIN_ADDRESS_BYTES_MAX)) {
            return 0;
        }
        if (high < 0) {
            high = (int)(digit - digits);
        } else {
            bytes[count++] = (uint8_t)((high << 4) | (digit - digits));
            high           = -1;
        }
    }
    return (high < 0) ? count : 0;
}

/* The address that a user named. @return its length, 0: said why not. */
static size_t explain_read_address(const char *name, uint8_t *bytes)
{
    static char content[2 * EXPLAIN_ADDRESS_BYTES_MAX + 2];
    size_t      length = explain_from_hex(name, strlen(name), bytes);
    FILE       *file;

    if (length > 0) {
        return length;
    }
    file = fopen(name, "re");
    if (file == NULL) {
        tool_error("--address %s: no hexadecimal bytes, and no file: %m", name);
        return 0;
    }
    length = fread(content, 1, sizeof(content), file);
    (void)fclose(file);
    if (explain_from_hex(content, length, bytes) > 0) {
        return explain_from_hex(content, length, bytes);
    }
    if ((length == 0) || (length > EXPLAIN_ADDRESS_BYTES_MAX)) {
        tool_error("--address %s: %zu bytes are no worker address", name,
                   length);
        return 0;
    }
    memcpy(bytes, content, length);
    return length;
}

static causeway_explain_params_t
explain_params(const struct explain_options *options)
{
    causeway_explain_params_t params = {
        .mode          = options->mode,
        .datatype      = options->datatype,
        .bytes         = options->bytes,
        .flags         = options->json ? CAUSEWAY_EXPLAIN_FLAG_JSON : 0,
        .operation     = options->operation,
        .memory        = options->memory,
        .recv_datatype = options->recv_datatype,
        .piece_bytes   = options->piece_bytes,
    };

    const struct {
        bool     is_given;
        uint64_t field;
    } fields[] = {
        {options->mode != NULL, CAUSEWAY_EXPLAIN_FIELD_MODE},
        {options->datatype != NULL, CAUSEWAY_EXPLAIN_FIELD_DATATYPE},
        {options->has_bytes, CAUSEWAY_EXPLAIN_FIELD_BYTES},
        {options->operation != NULL, CAUSEWAY_EXPLAIN_FIELD_OPERATION},
        {options->memory != NULL, CAUSEWAY_EXPLAIN_FIELD_MEMORY},
        {options->recv_datatype != NULL, CAUSEWAY_EXPLAIN_FIELD_RECV_DATATYPE},
        {options->has_piece_bytes, CAUSEWAY_EXPLAIN_FIELD_PIECE_BYTES},
    };

    params.field_mask = CAUSEWAY_EXPLAIN_FIELD_FLAGS;
    for (size_t i = 0; i < TOOL_ARRAY_COUNT(fields); ++i) {
        params.field_mask |= fields[i].is_given ? fields[i].field : 0;
    }
    return params;
}

static int explain_address(const struct explain_options *options)
{
    causeway_explain_params_t             params = explain_params(options);
    __typeof__(&causeway_address_explain) explain =
        EXPLAIN_FIND(causeway_address_explain);
    uint8_t             bytes[EXPLAIN_ADDRESS_BYTES_MAX];
    size_t              length = explain_read_address(options->address, bytes);
    struct explain_side side;
    ucs_status_t        status;

    if ((length == 0) || !explain_side_open(&side, "explain")) {
        return TOOL_EXIT_FAILED;
    }
    status = explain(side.worker, (const ucp_address_t *)(void *)bytes, length,
                     &params, stdout);
    explain_side_close(&side);
    if (status != UCS_OK) {
        tool_error("%s", ucs_status_string(status));
    }
    return (status == UCS_OK) ? TOOL_EXIT_OK : TOOL_EXIT_FAILED;
}

static int explain_own_address(void)
{
    struct explain_side side;
    ucp_address_t      *address;
    const uint8_t      *bytes;
    size_t              length;

    if (!explain_side_open(&side, "explain")) {
        return TOOL_EXIT_FAILED;
    }
    if (ucp_worker_get_address(side.worker, &address, &length) != UCS_OK) {
        explain_side_close(&side);
        return TOOL_EXIT_FAILED;
    }
    bytes = (const uint8_t *)(const void *)address;
    for (size_t i = 0; i < length; ++i) {
        printf("%02x", bytes[i]);
    }
    printf("\n");
    ucp_worker_release_address(side.worker, address);
    explain_side_close(&side);
    return TOOL_EXIT_OK;
}

static int explain_pair_of_processes(const struct explain_options *options)
{
    causeway_explain_params_t params = explain_params(options);

    return explain_pair(&params) ? TOOL_EXIT_OK : TOOL_EXIT_FAILED;
}

int tool_explain_main(int argc, char **argv)
{
    struct explain_options options = {0};

    switch (tool_options_parse(&explain_command, argc, argv, &options, NULL)) {
    case TOOL_PARSE_HELP:
        return TOOL_EXIT_OK;
    case TOOL_PARSE_BAD:
        return TOOL_EXIT_USAGE;
    case TOOL_PARSE_OK:
        break;
    }
    if (EXPLAIN_FIND(causeway_ep_explain) == NULL) {
        tool_error("the libucp that is loaded, %s, is not Causeway's",
                   tool_library_of("ucp_init_version"));
        return TOOL_EXIT_FAILED;
    }
    if (options.own_address) {
        return explain_own_address();
    }
    return (options.address != NULL) ? explain_address(&options)
                                     : explain_pair_of_processes(&options);
}
