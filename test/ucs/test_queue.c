/* SPDX-License-Identifier: BSD-3-Clause */
/* test_queue.c - intrusive queue. */
#include "ucs/queue.h"

#include <stdlib.h>

#include "ucs/suites.h"

struct item {
    struct ucs_queue_elem link;
    int                   number;
};

enum { ITEM_COUNT = 8 };

static struct ucs_queue queue;
static struct item      items[ITEM_COUNT];

static void setup(const struct test_param *param)
{
    int i;

    (void)param;
    ucs_queue_init(&queue);
    for (i = 0; i < ITEM_COUNT; ++i) {
        items[i].number = i;
    }
}

/* Pull everything; these numbers come. The queue then works as a new one. */
static void expect(const int *numbers, int count)
{
    struct ucs_queue_elem *head;
    int                    i;

    for (i = 0; i < count; ++i) {
        head = ucs_queue_head(&queue);
        ck_assert(!ucs_queue_is_empty(&queue));
        ck_assert_ptr_nonnull(head);
        ck_assert_ptr_eq(ucs_queue_pull(&queue), head);
        ck_assert_int_eq(ucs_container_of(head, struct item, link)->number,
                         numbers[i]);
    }
    ck_assert(ucs_queue_is_empty(&queue));
    ck_assert_ptr_null(ucs_queue_head(&queue));
    ck_assert_ptr_null(ucs_queue_pull(&queue));
}

#define EXPECT(...)                                                            \
    expect((const int[]){__VA_ARGS__},                                         \
           (int)UCS_ARRAY_COUNT(((const int[]){__VA_ARGS__})))

static void fill(struct ucs_queue *target, int first, int last)
{
    int i;

    for (i = first; i <= last; ++i) {
        ucs_queue_push(target, &items[i].link);
    }
}

static void pull__first_in_first_out(const struct test_param *param)
{
    (void)param;
    expect(NULL, 0);
    fill(&queue, 0, 0);
    EXPECT(0);
    fill(&queue, 0, 4);
    EXPECT(0, 1, 2, 3, 4);
}

static void push_head__is_next(const struct test_param *param)
{
    (void)param;
    ucs_queue_push_head(&queue, &items[0].link);
    EXPECT(0);
    ucs_queue_push_head(&queue, &items[1].link);
    ucs_queue_push_head(&queue, &items[0].link);
    ucs_queue_push(&queue, &items[2].link);
    EXPECT(0, 1, 2);
}

static void splice__moves_all(const struct test_param *param)
{
    struct ucs_queue other;

    (void)param;
    ucs_queue_init(&other);
    ucs_queue_splice(&queue, &other);
    expect(NULL, 0);
    fill(&other, 0, 1);
    ucs_queue_splice(&queue, &other);
    ck_assert(ucs_queue_is_empty(&other));
    fill(&other, 2, 3);
    ucs_queue_splice(&queue, &other);
    ucs_queue_splice(&queue, &other);
    fill(&queue, 4, 4);
    EXPECT(0, 1, 2, 3, 4);
}

static void for_each__visits_all(const struct test_param *param)
{
    struct item *item;
    int          next = 0;

    (void)param;
    ucs_queue_for_each (item, &queue, link) {
        ck_abort_msg("the queue is empty");
    }
    fill(&queue, 0, 5);
    ucs_queue_for_each (item, &queue, link) {
        ck_assert_int_eq(item->number, next++);
    }
    ck_assert_int_eq(next, 6);
    EXPECT(0, 1, 2, 3, 4, 5);
}

/* Each subset of four, so first, last and all are among them. */
static void for_each_safe__removes_any(const struct test_param *param)
{
    struct ucs_queue_elem **position;
    struct item            *item;
    int                     kept[4];
    int                     set, next, count;

    (void)param;
    for (set = 0; set < 16; ++set) {
        fill(&queue, 0, 3);
        next  = 0;
        count = 0;
        ucs_queue_for_each_safe (item, position, &queue, link) {
            ck_assert_int_eq(item->number, next++);
            if (set & (1 << item->number)) {
                ucs_queue_remove_at(&queue, position);
            } else {
                kept[count++] = item->number;
            }
        }
        ck_assert_int_eq(next, 4);
        if (count < 4) { /* the tail is right: a push lands behind the rest */
            ucs_queue_push(&queue, &items[7].link);
            ck_assert_ptr_eq(queue.ptail, &items[7].link.next);
            kept[count++] = 7;
        }
        expect(kept, count);
    }
}

/* Not inlined: the compiler cannot see that a walk looks at an element that
 * was freed only when it was not removed, and warns. */
static UCS_NOINLINE void item_free(struct item *item)
{
    free(item);
}

static void for_each_safe__may_free(const struct test_param *param)
{
    struct ucs_queue_elem **position;
    struct item            *item;
    int                     i;

    (void)param;
    for (i = 0; i < 5; ++i) {
        item = malloc(sizeof(*item));
        ck_assert_ptr_nonnull(item);
        ucs_queue_push(&queue, &item->link);
    }
    ucs_queue_for_each_safe (item, position, &queue, link) {
        ucs_queue_remove_at(&queue, position);
        item_free(item);
    }
    expect(NULL, 0);
}

/* The numbers in the queue, from head to tail, as an array. */
struct model {
    int numbers[ITEM_COUNT];
    int count;
};

static void model_push(struct model *model, int number, bool at_head)
{
    int i;

    if (at_head) {
        ucs_queue_push_head(&queue, &items[number].link);
        for (i = model->count; i > 0; --i) {
            model->numbers[i] = model->numbers[i - 1];
        }
        model->numbers[0] = number;
    } else {
        ucs_queue_push(&queue, &items[number].link);
        model->numbers[model->count] = number;
    }
    ++model->count;
}

static int model_pull(struct model *model)
{
    struct ucs_queue_elem *elem   = ucs_queue_pull(&queue);
    int                    number = model->numbers[0];
    int                    i;

    ck_assert_ptr_eq(elem, &items[number].link);
    for (i = 0, --model->count; i < model->count; ++i) {
        model->numbers[i] = model->numbers[i + 1];
    }
    return number;
}

static void random__like_an_array(const struct test_param *param)
{
    struct model model = {.count = 0};
    int          spare[ITEM_COUNT]; /* the items that are not in */
    int          step, i;

    (void)param;
    for (i = 0; i < ITEM_COUNT; ++i) {
        spare[i] = i;
    }
    for (step = 0; step < 3000; ++step) {
        uint64_t choice = test_random_below(5);

        if ((choice < 3) && (model.count < ITEM_COUNT)) {
            model_push(&model, spare[ITEM_COUNT - 1 - model.count],
                       choice == 0);
        } else if (model.count > 0) {
            i                                   = model_pull(&model);
            spare[ITEM_COUNT - 1 - model.count] = i;
        }
    }
    expect(model.numbers, model.count);
}

static const struct test_case cases[] = {
    TEST(pull__first_in_first_out),   TEST(push_head__is_next),
    TEST(splice__moves_all),          TEST(for_each__visits_all),
    TEST(for_each_safe__removes_any), TEST(for_each_safe__may_free),
    TEST(random__like_an_array),      {0}};

const struct test_suite queue_suite = {"queue", cases, NULL, setup, NULL};
