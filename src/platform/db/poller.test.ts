import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { createListeners } from './changes.ts'
import { Poller } from './poller.ts'

/** So long that no test waits for it. */
const NEVER_MS = 3_600_000

describe('looks', () => {
  let looks: Poller | undefined
  afterEach(() => looks?.end())
  const { add: subscribe, tell } = createListeners()
  const changes = { subscribe, version: () => undefined, close() {} }
  const follow = (look: () => Promise<void>, everyMs = NEVER_MS) => {
    looks = new Poller({ changes, topic: 'events', everyMs, leastPauseMs: 1, look })
    return looks
  }

  test('come with a notification of the topic, and from time to time', async () => {
    let count = 0
    const look = async () => void count++
    follow(look).begin(NEVER_MS)
    tell('routes')
    tell('events')
    await expect.poll(() => count).toBe(1)
    looks?.end()
    follow(look, 5).begin(0)
    await expect.poll(() => count).toBeGreaterThan(3)
  })

  test('never overlap: a change announced during one is found by the next', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let [count, atOnce] = [0, 0]
    follow(async () => {
      count++
      expect(++atOnce).toBe(1)
      if (count === 1) await promise
      atOnce--
    }).begin(0)
    await expect.poll(() => count).toBe(1)
    tell('events')
    await pause(20)
    expect(count).toBe(1)
    resolve()
    await expect.poll(() => count).toBe(2)
  })

  test('continue after a failed one, until the end', async () => {
    let count = 0
    follow(async () => {
      if (++count === 1) throw new Error('the database is away')
    }, 5).begin(0)
    await expect.poll(() => count).toBeGreaterThan(1)
    looks?.end()
    const atEnd = count
    tell('events')
    await pause(30)
    expect(count).toBe(atEnd)
  })
})
