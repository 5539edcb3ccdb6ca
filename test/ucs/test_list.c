/* SPDX-License-Identifier: BSD-3-Clause */
/* test_list.c - intrusive doubly linked list. */
#include "ucs/list.h"

#include <stdlib.h>

#include "ucs/suites.h"

struct item {
    int             number;
    struct ucs_list link;
};

enum { ITEM_COUNT = 8 };

static struct ucs_list head = UCS_LIST_INITIALIZER(head);
static struct item     items[ITEM_COUNT];

static void setup(const struct test_param *param)
{
    int i;

    (void)param;
    ucs_list_init(&head);
    for (i = 0; i < ITEM_COUNT; ++i) {
        items[i].number = i;
    }
}

/* The list holds exactly these numbers, in both directions. */
static void expect(const struct ucs_list *list, const int *numbers, int count)
{
    const struct ucs_list *link;
    struct item           *item;
    int                    i = 0;

    ucs_list_for_each (item, list, link) {
        ck_assert_int_lt(i, count);
        ck_assert_int_eq(item->number, numbers[i]);
        ++i;
    }
    ck_assert_int_eq(i, count);
    ck_assert_uint_eq(ucs_list_count(list), (size_t)count);
    ck_assert(ucs_list_is_empty(list) == (count == 0));
    for (link = list->prev; link != list; link = link->prev) {
        ck_assert_int_eq(ucs_container_of(link, struct item, link)->number,
                         numbers[--i]);
    }
    ck_assert_int_eq(i, 0);
}

#define EXPECT(_list, ...)                                                     \
    expect(_list, (const int[]){__VA_ARGS__},                                  \
           (int)UCS_ARRAY_COUNT(((const int[]){__VA_ARGS__})))

static void init__is_empty(const struct test_param *param)
{
    static struct ucs_list other = UCS_LIST_INITIALIZER(other);

    (void)param;
    expect(&head, NULL, 0);
    expect(&other, NULL, 0);
}

static void add__at_both_ends_and_between(const struct test_param *param)
{
    (void)param;
    ucs_list_add_tail(&head, &items[1].link);
    ucs_list_add_tail(&head, &items[2].link);
    ucs_list_add_head(&head, &items[0].link);
    EXPECT(&head, 0, 1, 2);
    ucs_list_add_before(&items[0].link, &items[3].link);
    ucs_list_add_before(&items[2].link, &items[4].link);
    ucs_list_add_before(&head, &items[5].link);
    EXPECT(&head, 3, 0, 1, 4, 2, 5);
}

static void access__first_last_next(const struct test_param *param)
{
    (void)param;
    ucs_list_add_tail(&head, &items[0].link);
    ck_assert_ptr_eq(ucs_list_first(&head, struct item, link), &items[0]);
    ck_assert_ptr_eq(ucs_list_last(&head, struct item, link), &items[0]);
    ucs_list_add_tail(&head, &items[1].link);
    ck_assert_ptr_eq(ucs_list_first(&head, struct item, link), &items[0]);
    ck_assert_ptr_eq(ucs_list_last(&head, struct item, link), &items[1]);
    ck_assert_ptr_eq(ucs_list_next(&items[0], link), &items[1]);
}

static void remove__any_place(const struct test_param *param)
{
    int i;

    (void)param;
    for (i = 0; i < 5; ++i) {
        ucs_list_add_tail(&head, &items[i].link);
    }
    ucs_list_remove(&items[2].link);
    EXPECT(&head, 0, 1, 3, 4);
    ucs_list_remove(&items[0].link);
    EXPECT(&head, 1, 3, 4);
    ucs_list_remove(&items[4].link);
    EXPECT(&head, 1, 3);
    ucs_list_remove(&items[1].link);
    ucs_list_remove(&items[3].link);
    expect(&head, NULL, 0);
}

static void remove__link_of_no_list(const struct test_param *param)
{
    (void)param;
    ucs_list_init(&items[0].link);
    ucs_list_remove(&items[0].link);
    ck_assert(ucs_list_is_empty(&items[0].link));
}

static void splice_tail__moves_all(const struct test_param *param)
{
    struct ucs_list other;

    (void)param;
    ucs_list_init(&other);
    ucs_list_splice_tail(&head, &other);
    expect(&head, NULL, 0);
    ucs_list_add_tail(&other, &items[0].link);
    ucs_list_add_tail(&other, &items[1].link);
    ucs_list_splice_tail(&head, &other);
    EXPECT(&head, 0, 1);
    expect(&other, NULL, 0);
    ucs_list_add_tail(&other, &items[2].link);
    ucs_list_splice_tail(&head, &other);
    EXPECT(&head, 0, 1, 2);
    ucs_list_splice_tail(&head, &other);
    EXPECT(&head, 0, 1, 2);
}

static void for_each_safe__may_free(const struct test_param *param)
{
    struct item *item, *next;
    int          i, count = 0;

    (void)param;
    for (i = 0; i < 6; ++i) {
        item = malloc(sizeof(*item));
        ck_assert_ptr_nonnull(item);
        item->number = i;
        ucs_list_add_tail(&head, &item->link);
    }
    ucs_list_for_each_safe (item, next, &head, link) {
        if (item->number % 2 == 0) {
            ucs_list_remove(&item->link);
            free(item);
        }
    }
    EXPECT(&head, 1, 3, 5);
    ucs_list_for_each_safe (item, next, &head, link) {
        ucs_list_remove(&item->link);
        free(item);
        ++count;
    }
    ck_assert_int_eq(count, 3);
    expect(&head, NULL, 0);
}

/* An array does the same, slowly. */
static void random__like_an_array(const struct test_param *param)
{
    int numbers[ITEM_COUNT];
    int count = 0;
    int step, i, at;

    (void)param;
    for (step = 0; step < 2000; ++step) {
        int number = (int)test_random_below(ITEM_COUNT);

        for (at = 0; (at < count) && (numbers[at] != number); ++at) {
        }
        if (at < count) { /* is in: out with it */
            ucs_list_remove(&items[number].link);
            for (--count; at < count; ++at) {
                numbers[at] = numbers[at + 1];
            }
        } else { /* in, before a random element or at the end */
            at = (int)test_random_below((uint64_t)count + 1);
            ucs_list_add_before((at == count) ? &head
                                              : &items[numbers[at]].link,
                                &items[number].link);
            for (i = count++; i > at; --i) {
                numbers[i] = numbers[i - 1];
            }
            numbers[at] = number;
        }
        if (step % 16 == 0) {
            expect(&head, numbers, count);
        }
    }
}

static const struct test_case cases[] = {TEST(init__is_empty),
                                         TEST(add__at_both_ends_and_between),
                                         TEST(access__first_last_next),
                                         TEST(remove__any_place),
                                         TEST(remove__link_of_no_list),
                                         TEST(splice_tail__moves_all),
                                         TEST(for_each_safe__may_free),
                                         TEST(random__like_an_array),
                                         {0}};

const struct test_suite list_suite = {"list", cases, NULL, setup, NULL};
