// SPDX-License-Identifier: BSD-3-Clause
//
// The same as hello.c in C++: two processes, their addresses through pipes, a
// greeting and an answer; handles that close themselves, callbacks as lambdas.
//
//     c++ hello.cc $(pkg-config --cflags --libs ucx) -o hello++ && ./hello++
#include <ucp/api/ucp.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr ucp_tag_t tag_greeting = 0x1234;
constexpr ucp_tag_t tag_answer   = 0x1235;

void must(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        throw std::runtime_error(std::string(what) + ": " +
                                 ucs_status_string(status));
    }
}

class Context {
public:
    Context()
    {
        ucp_params_t params{};

        params.field_mask = UCP_PARAM_FIELD_FEATURES;
        params.features   = UCP_FEATURE_TAG;
        must(ucp_init(&params, nullptr, &handle_), "ucp_init");
    }
    ~Context() { ucp_cleanup(handle_); }
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;

    ucp_context_h get() const { return handle_; }

private:
    ucp_context_h handle_ = nullptr;
};

class Worker {
public:
    explicit Worker(const Context &context)
    {
        ucp_worker_params_t params{};

        must(ucp_worker_create(context.get(), &params, &handle_),
             "ucp_worker_create");
    }
    ~Worker() { ucp_worker_destroy(handle_); }
    Worker(const Worker &) = delete;
    Worker &operator=(const Worker &) = delete;

    ucp_worker_h get() const { return handle_; }

    std::vector<char> address() const
    {
        ucp_address_t *address;
        size_t         length;

        must(ucp_worker_get_address(handle_, &address, &length),
             "ucp_worker_get_address");
        const char       *bytes = reinterpret_cast<const char *>(address);
        std::vector<char> copy(bytes, bytes + length);
        ucp_worker_release_address(handle_, address);
        return copy;
    }

    // An operation is done (NULL), has failed, or has a request to wait for.
    void finish(ucs_status_ptr_t request, const char *what) const
    {
        if (UCS_PTR_IS_ERR(request)) {
            must(UCS_PTR_STATUS(request), what);
        } else if (request != nullptr) {
            ucs_status_t status;

            do {
                ucp_worker_progress(handle_);
                status = ucp_request_check_status(request);
            } while (status == UCS_INPROGRESS);
            ucp_request_free(request);
            must(status, what);
        }
    }

private:
    ucp_worker_h handle_ = nullptr;
};

class Endpoint {
public:
    Endpoint(const Worker &worker, const std::vector<char> &address)
        : worker_(worker)
    {
        ucp_ep_params_t params{};

        params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
        params.address =
                reinterpret_cast<const ucp_address_t *>(address.data());
        must(ucp_ep_create(worker.get(), &params, &handle_), "ucp_ep_create");
    }
    ~Endpoint()
    {
        ucp_request_param_t param{};

        try {
            worker_.finish(ucp_ep_close_nbx(handle_, &param), "close");
        } catch (const std::exception &error) {
            std::fprintf(stderr, "hello++: %s\n", error.what());
        }
    }
    Endpoint(const Endpoint &) = delete;
    Endpoint &operator=(const Endpoint &) = delete;

    void send(ucp_tag_t tag, const std::string &text) const
    {
        ucp_request_param_t param{};

        worker_.finish(ucp_tag_send_nbx(handle_, text.data(), text.size(), tag,
                                        &param),
                       "send");
    }

private:
    const Worker &worker_;
    ucp_ep_h      handle_ = nullptr;
};

std::string receive(const Worker &worker, ucp_tag_t tag)
{
    struct Arrival {
        bool         done   = false;
        ucs_status_t status = UCS_OK;
        size_t       length = 0;
    } arrival;
    std::vector<char>   room(64);
    ucp_request_param_t param{};

    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                         UCP_OP_ATTR_FIELD_USER_DATA |
                         UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    param.user_data = &arrival;
    param.cb.recv   = [](void *, ucs_status_t status,
                       const ucp_tag_recv_info_t *info, void *user_data) {
        auto *seen = static_cast<Arrival *>(user_data);

        seen->done   = true;
        seen->status = status;
        seen->length = info->length;
    };
    worker.finish(ucp_tag_recv_nbx(worker.get(), room.data(), room.size(), tag,
                                   ~ucp_tag_t{0}, &param),
                  "receive");
    if (!arrival.done) {
        throw std::runtime_error("the callback was not called");
    }
    must(arrival.status, "receive");
    return std::string(room.data(), arrival.length);
}

// What a peer says through a pipe: a length, then the bytes.
void put(int fd, const std::vector<char> &bytes)
{
    const size_t length = bytes.size();

    if (write(fd, &length, sizeof(length)) != sizeof(length) ||
        write(fd, bytes.data(), length) != static_cast<ssize_t>(length)) {
        throw std::runtime_error("the pipe is broken");
    }
}

std::vector<char> get(int fd)
{
    size_t length = 0;

    if (read(fd, &length, sizeof(length)) != sizeof(length)) {
        throw std::runtime_error("the pipe is broken");
    }
    std::vector<char> bytes(length);
    if (read(fd, bytes.data(), length) != static_cast<ssize_t>(length)) {
        throw std::runtime_error("the pipe is broken");
    }
    return bytes;
}

void expect(const Worker &worker, ucp_tag_t tag, const std::string &expected)
{
    const std::string text = receive(worker, tag);

    if (text != expected) {
        throw std::runtime_error("got '" + text + "'");
    }
    std::printf("%d received: %s\n", static_cast<int>(getpid()), text.c_str());
    std::fflush(stdout);
}

void talk(bool parent, int in, int out)
{
    const std::string greeting = "Hello from the parent";
    const std::string answer   = "and hello from the child";
    Context           context;
    Worker            worker(context);

    put(out, worker.address());
    Endpoint peer(worker, get(in));
    if (parent) {
        peer.send(tag_greeting, greeting);
        expect(worker, tag_answer, answer);
    } else {
        expect(worker, tag_greeting, greeting);
        peer.send(tag_answer, answer);
    }
}

} // namespace

int main()
{
    int   down[2], up[2], status = 0;
    pid_t child;

    if (pipe(down) != 0 || pipe(up) != 0 || (child = fork()) < 0) {
        std::perror("hello++");
        return 1;
    }
    try {
        talk(child != 0, child != 0 ? up[0] : down[0],
             child != 0 ? down[1] : up[1]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "hello++: %s\n", error.what());
        return 1;
    }
    if (child != 0 && (waitpid(child, &status, 0) != child || status != 0)) {
        std::fprintf(stderr, "hello++: the child has failed\n");
        return 1;
    }
    return 0;
}
