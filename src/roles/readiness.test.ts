import { expect, it } from 'vitest'
import { type HostStanding, OwnHost } from './own-host.ts'
import { judgeReadiness, type ReadinessFacts } from './readiness.ts'

const prepared = { preparing: false, wordpress: '6.8', mariaDb: { isUp: true } }
const host = (more: Partial<HostStanding> = {}): HostStanding => ({
  ...{ name: 'one', state: 'active', datacenters: [], isHeard: true, seenSeconds: 1, facts: prepared },
  ...more,
})
const good: ReadinessFacts = {
  hosts: [host()],
  datacenters: ['AMS'],
  parts: { edge: true },
  disk: 'ok',
  isIntroduced: true,
}
const silent = host({ isHeard: false, seenSeconds: 10 })

/** Judges the readiness of a control that no host talks to, as when both are started separately. */
const readyAt = (now: number, facts: Record<string, unknown>) => {
  const recorded = { name: 'one', state: 'active' as const, datacenters: [], seenAt: 100_000, facts }
  return judgeReadiness({ ...good, hosts: new OwnHost().among([recorded], now) }).ready
}

it('is red ten seconds after a host last recorded its state, such as on a full disk', () => {
  expect(readyAt(109_999, prepared)).toBe(true)
  expect(readyAt(110_000, prepared)).toBe(false)
})

it('is red with the next record of a host whose MariaDB does not start', () => {
  expect(readyAt(100_000, { ...prepared, mariaDb: { isUp: false, fault: 'the disk is full' } })).toBe(false)
  expect(readyAt(100_000, { preparing: false })).toBe(true)
})

it('is green without a reason when all is well, and when one of two hosts is silent', () => {
  const ready = { ready: true, isDegraded: false, reasons: [] }
  expect(judgeReadiness(good)).toEqual(ready)
  expect(judgeReadiness({ ...good, hosts: [host(), silent], disk: 'essential' })).toEqual(ready)
})

it.each<[string, Partial<ReadinessFacts>, string]>([
  ['a host prepares', { hosts: [host({ facts: { preparing: true } })] }, 'The host one is preparing WordPress.'],
  ['there is no host', { hosts: [] }, 'No host has started yet.'],
  ['the data folder is read-only', { disk: 'read-only' }, 'Stead cannot write to its data folder.'],
  ['the first keys cannot be read', { isIntroduced: false }, 'Stead has not created the first account yet.'],
  ['another part does not run', { parts: { edge: false, dns: true } }, 'The process "edge" does not run.'],
  [
    'MariaDB does not start',
    { hosts: [host({ facts: { ...prepared, mariaDb: { isUp: false, fault: 'the disk is full' } } })] },
    'MariaDB on the host one does not respond: the disk is full.',
  ],
  [
    'a host is silent',
    { hosts: [silent] },
    'The host one has not reported for 10 s. It does not run, or it cannot write to the control database. Its log says why.',
  ],
  [
    'a host cannot record its state on a full disk',
    { hosts: [silent], disk: 'essential' },
    'The host one has not reported for 10 s. It cannot record its state on a disk that is full or read-only. Free space on the disk of the data folder.',
  ],
  [
    'a host never reported',
    { hosts: [host({ isHeard: false, seenSeconds: null })] },
    'The host one has never reported. It does not run, or it cannot write to the control database. Its log says why.',
  ],
  ['its only host is lost', { hosts: [host({ state: 'lost' })] }, 'The host one is marked as lost.'],
])('is red, and says why, while %s', (_, bad, reason) => {
  const verdict = judgeReadiness({ ...good, ...bad })
  expect([verdict.ready, verdict.reasons]).toEqual([false, [reason]])
})

it('is degraded, and says why, without a WordPress or without a host for a datacenter', () => {
  const withoutCore = judgeReadiness({ ...good, hosts: [host({ facts: { ...prepared, wordpress: null } })] })
  expect(withoutCore).toEqual({
    ...{ ready: true, isDegraded: true },
    reasons: ['No host has a WordPress to create sites from.'],
  })
  const hosts = [host({ datacenters: ['AMS'] }), { ...silent, datacenters: ['DFW'] }]
  expect(judgeReadiness({ ...good, hosts, datacenters: ['AMS', 'DFW'] })).toEqual({
    ...{ ready: true, isDegraded: true },
    reasons: ['No running host serves the datacenter DFW.'],
  })
})
