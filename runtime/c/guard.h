/* The guard: a critical section for the part of the program that touches registers which workers share. A worker enters
 * it for all packets of a burst at once.
 */
#ifndef WIRESPEED_GUARD_H
#define WIRESPEED_GUARD_H

#include "wirespeed.h"

static inline WS_UNUSED void ws_enter(const struct ws_env *env)
{
    struct ws_guard *guard = env->guard;
    if (guard != NULL && __atomic_exchange_n(&guard->is_taken, 1, __ATOMIC_ACQUIRE) != 0)
        env->wait(guard);
}

static inline WS_UNUSED void ws_leave(const struct ws_env *env)
{
    if (env->guard != NULL)
        __atomic_store_n(&env->guard->is_taken, 0, __ATOMIC_RELEASE);
}

/* Programs that read the time must not see it run backwards: a packet that holds the guard has no earlier time than
 * those that held it before. Returns this time, which becomes the guard's. */
static inline uint64_t ws_time_behind(struct ws_guard *guard, uint64_t time_ns)
{
    if (time_ns > guard->time_ns)
        guard->time_ns = time_ns;
    return guard->time_ns;
}

/* For packets that are processed in place. */
static inline WS_UNUSED void ws_enter_frames(const struct ws_env *env, struct ws_frame *frames, uint32_t count)
{
    ws_enter(env);
    for (uint32_t i = 0; env->guard != NULL && i < count; i++)
        frames[i].time_ns = ws_time_behind(env->guard, frames[i].time_ns);
}

/* For packets in chunks. */
static inline WS_UNUSED void ws_enter_packets(const struct ws_env *env, struct ws_packet *const *packets, uint32_t count)
{
    ws_enter(env);
    for (uint32_t i = 0; env->guard != NULL && i < count; i++)
        packets[i]->time_ns = ws_time_behind(env->guard, packets[i]->time_ns);
}

/* For packets in a block, where programs read the time, in microseconds, from a slot. */
static inline WS_UNUSED void ws_enter_block(const struct ws_env *env, struct ws_packet *const *packets, uint32_t count,
                                            uint32_t slot)
{
    ws_enter(env);
    for (uint32_t i = 0; env->guard != NULL && i < count; i++) {
        uint64_t *time_us = &packets[i]->intrinsic[slot];
        *time_us = ws_time_behind(env->guard, *time_us * 1000) / 1000;
    }
}

#endif
