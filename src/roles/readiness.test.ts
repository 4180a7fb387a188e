import { expect, it } from 'vitest'
import { isRunning, OwnHost } from './own-host.ts'
import { isReady } from './readiness.ts'

const good = { canWrite: true, isIntroduced: true, parts: {} }
const prepared = { preparing: false, mariaDb: { isUp: true } }
/** Of a control that no host talks to, as where both are started apart. */
const readyAt = (now: number, facts: Record<string, unknown>) => {
  const recorded = { name: 'one', state: 'active' as const, datacenters: [], seenAt: 100_000, facts }
  return isReady({ ...good, hosts: new OwnHost().among([recorded], now).filter(isRunning) })
}

it('is red ten seconds after a host could record its state for the last time, such as on a full disk', () => {
  expect(readyAt(109_999, prepared)).toBe(true)
  expect(readyAt(110_000, prepared)).toBe(false)
})

it('is red with the next record of a host whose MariaDB does not start', () => {
  expect(readyAt(100_000, { ...prepared, mariaDb: { isUp: false, fault: 'the disk is full' } })).toBe(false)
  expect(readyAt(100_000, { preparing: false })).toBe(true)
})

it.each([
  ['a host prepares', { hosts: [{ facts: { preparing: true } }] }],
  ['there is no host', { hosts: [] }],
  ['the data folder is read-only', { canWrite: false }],
  ['the first keys cannot be read yet', { isIntroduced: false }],
  ['another part does not run', { parts: { edge: false } }],
])('is red while %s', (_, bad) => {
  const hosts = [{ facts: prepared }]
  expect(isReady({ ...good, hosts })).toBe(true)
  expect(isReady({ ...good, hosts, ...bad })).toBe(false)
})
