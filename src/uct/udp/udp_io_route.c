/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_io_route.c - one question to the kernel, RTM_GETROUTE, over a
 * netlink socket that lives as long as the question: connecting is rare, a
 * descriptor for each worker is not. rtnetlink(7), libnl-route. */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/route/route.h>

#include "ucs/fd.h"
#include "ucs/log.h"
#include "uct/udp/udp_route.h"

/* What came back. error: an errno, of a route that is none; 0. */
struct route_answer {
    struct udp_way way;
    bool           is_valid;
    int            error;
};

static enum udp_way_kind route_kind(struct rtnl_route   *route,
                                    struct rtnl_nexthop *hop)
{
    switch (rtnl_route_get_type(route)) {
    case RTN_LOCAL:
        return UDP_WAY_HERE;
    case RTN_BLACKHOLE:
    case RTN_PROHIBIT:
        return UDP_WAY_BLACK_HOLE;
    case RTN_UNREACHABLE:
        return UDP_WAY_NONE;
    default:
        break;
    }
    if (hop == NULL) {
        return UDP_WAY_NONE;
    }
    return (rtnl_route_nh_get_gateway(hop) != NULL) ? UDP_WAY_GATEWAY
                                                    : UDP_WAY_LINK;
}

static int route_on_valid(struct nl_msg *message, void *arg)
{
    struct route_answer *answer = arg;
    struct rtnl_route   *route;
    struct rtnl_nexthop *hop       = NULL;
    uint32_t             mtu_bytes = 0;

    if (rtnl_route_parse(nlmsg_hdr(message), &route) != 0) {
        return NL_SKIP;
    }
    if (rtnl_route_get_nnexthops(route) > 0) {
        hop = rtnl_route_nexthop_n(route, 0);
    }
    answer->way.kind = route_kind(route, hop);
    answer->way.index =
        (hop != NULL) ? (unsigned)rtnl_route_nh_get_ifindex(hop) : 0;
    if (rtnl_route_get_metric(route, RTAX_MTU, &mtu_bytes) == 0) {
        answer->way.mtu_bytes = mtu_bytes;
    }
    answer->is_valid = true;
    rtnl_route_put(route);
    return NL_STOP;
}

static int route_on_error(struct sockaddr_nl *from, struct nlmsgerr *error,
                          void *arg)
{
    struct route_answer *answer = arg;

    (void)from;
    answer->error = -error->error;
    return NL_STOP;
}

static const void *route_bytes(const struct ucs_sockaddr *address, int *bytes_p)
{
    if (address->base.sa_family == AF_INET) {
        *bytes_p = sizeof(address->inet.sin_addr);
        return &address->inet.sin_addr;
    }
    *bytes_p = sizeof(address->inet6.sin6_addr);
    return &address->inet6.sin6_addr;
}

/* @return below 0: no memory. */
static int route_fill(struct nl_msg *message, const struct ucs_sockaddr *local,
                      const struct ucs_sockaddr *peer)
{
    struct rtmsg header = {.rtm_family = (uint8_t)peer->base.sa_family};
    int          bytes;
    const void  *from = route_bytes(local, &bytes);
    const void  *to   = route_bytes(peer, &bytes);
    unsigned     scope =
        (peer->base.sa_family == AF_INET6) ? local->inet6.sin6_scope_id : 0;
    int result;

    header.rtm_dst_len = (uint8_t)(bytes * 8);
    header.rtm_src_len = (uint8_t)(bytes * 8);
    result = nlmsg_append(message, &header, sizeof(header), NLMSG_ALIGNTO);
    if (result == 0) {
        result = nla_put(message, RTA_DST, bytes, to);
    }
    if (result == 0) {
        result = nla_put(message, RTA_SRC, bytes, from);
    }
    /* A link-local address means something on its device only. */
    if ((result == 0) && (scope != 0)) {
        result = nla_put_u32(message, RTA_OIF, scope);
    }
    return result;
}

static int route_exchange(struct nl_sock *socket, struct nl_msg *message,
                          struct route_answer *answer)
{
    int result = nl_connect(socket, NETLINK_ROUTE);

    if (result < 0) {
        return result;
    }
    nl_socket_disable_auto_ack(socket);
    (void)nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, route_on_valid,
                              answer);
    (void)nl_socket_modify_err_cb(socket, NL_CB_CUSTOM, route_on_error, answer);
    result = nl_send_auto(socket, message);
    if (result < 0) {
        return result;
    }
    result = nl_recvmsgs_default(socket);
    /* An error of the route is an answer. */
    return ((answer->error != 0) || answer->is_valid) ? 0 : result;
}

/* The errors that a lookup has instead of a route: fib_rules, ip-route(8). */
static bool route_error_kind(int error, enum udp_way_kind *kind_p)
{
    if ((error == EINVAL) || (error == EACCES)) {
        *kind_p = UDP_WAY_BLACK_HOLE;
        return true;
    }
    *kind_p = UDP_WAY_NONE;
    return (error == ENETUNREACH) || (error == EHOSTUNREACH) ||
           (error == ENODEV) || (error == ENETDOWN);
}

ucs_status_t udp_route_ask(const struct ucs_sockaddr *local,
                           const struct ucs_sockaddr *peer,
                           struct udp_way            *way_p)
{
    struct route_answer answer = {.is_valid = false};
    struct nl_sock     *socket = nl_socket_alloc();
    struct nl_msg *message = nlmsg_alloc_simple(RTM_GETROUTE, NLM_F_REQUEST);
    int            result  = -NLE_NOMEM;

    if ((socket != NULL) && (message != NULL)) {
        result = route_fill(message, local, peer);
    }
    if (result == 0) {
        result = route_exchange(socket, message, &answer);
    }
    nlmsg_free(message);
    nl_socket_free(socket);
    if (result < 0) {
        ucs_error("udp: the kernel's routes: %s", nl_geterror(result));
        return (result == -NLE_NOMEM) ? UCS_ERR_NO_MEMORY : UCS_ERR_IO_ERROR;
    }
    if (answer.is_valid) {
        *way_p = answer.way;
        return UCS_OK;
    }
    if (route_error_kind(answer.error, &answer.way.kind)) {
        *way_p = answer.way;
        return UCS_OK;
    }
    errno = answer.error;
    ucs_error("udp: route lookup: %m");
    return (answer.error == 0) ? UCS_ERR_IO_ERROR
                               : ucsi_status_from_errno(answer.error);
}
