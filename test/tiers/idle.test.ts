import { expect, test } from 'vitest'
import { idleAfter, QUIET_MS } from './idle.ts'

function aRun() {
  const run = { spentMs: 50_000, nowMs: 1000 }
  const isIdle = idleAfter(
    () => run.spentMs,
    () => run.nowMs,
  )
  return { run, isIdle }
}

test('a run that works is not idle, however long it takes', () => {
  const { run, isIdle } = aRun()
  for (let looks = 0; looks < 100; looks++) {
    run.nowMs += QUIET_MS / 2
    run.spentMs += 2000
    expect(isIdle()).toBe(false)
  }
})

test('a run that only waits is idle, although looking takes a little time, too', () => {
  const { run, isIdle } = aRun()
  for (let looks = 0; looks < 9; looks++) {
    run.nowMs += QUIET_MS / 10
    run.spentMs += 10
    expect(isIdle()).toBe(false)
  }
  run.nowMs += QUIET_MS / 10
  expect(isIdle()).toBe(true)
})

test('processes that have ended, with their time, are no reason to call a run idle', () => {
  const { run, isIdle } = aRun()
  run.nowMs += QUIET_MS
  run.spentMs = 10_000
  expect(isIdle()).toBe(false)
  run.nowMs += QUIET_MS
  expect(isIdle()).toBe(true)
})
