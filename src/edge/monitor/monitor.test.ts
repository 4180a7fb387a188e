import { beforeEach, expect, test } from 'vitest'
import type { Route } from '../routing/route.ts'
import type { MonitoringStateRow } from '../tables.ts'
import { routeTo, silent } from '../test-support.ts'
import type { AskedPage } from './ask-page.ts'
import type { HostAnswer } from './finding.ts'
import type { SiteToAsk } from './monitor.store.ts'
import { SiteMonitor } from './monitor.ts'

const DAY_MS = 86_400_000

/** A monitor whose clock moves one second a tick, and what it asks and stores. */
function world(hostNames = ['site.test']) {
  const asked: AskedPage[] = []
  const stored: Omit<MonitoringStateRow, 'is_new' | 'edge'>[] = []
  const sums = { asked: 0, slow: 0, failed: 0 }
  const made = {
    asked,
    stored,
    sums,
    sites: hostNames.map((hostName, at): SiteToAsk => ({ siteId: 7 + at, hostName, isDomain: true })),
    route: {} as Partial<Route>,
    answer: { status: 200, location: undefined, ms: 5 } as HostAnswer,
    dns: undefined as string | undefined,
    tls: undefined as string | undefined,
    full: 0,
    isAway: false,
    before: new Map<number, MonitoringStateRow>(),
    /** Called before a page is answered. */
    meanwhile: () => {},
    ms: 0,
    async seconds(count: number, eachMs = 1000) {
      for (let second = 0; second < count; second++) {
        made.ms += eachMs
        await made.monitor.tick()
        // Questions are answered in promises.
        for (let turn = 0; turn < 20; turn++) await undefined
      }
    },
    states: () => stored.map(({ state, reason }) => (reason === null ? state : `${state} ${reason}`)),
    monitor: undefined as unknown as SiteMonitor,
  }
  const refuse = () => {
    if (made.isAway) throw new Error('away')
  }
  let listed: unknown
  made.monitor = new SiteMonitor({
    routes: {
      find: (hostName) => {
        const site = made.sites.find((each) => each.hostName === hostName)
        return site && routeTo('http://127.0.0.1:1', { hostName, siteId: site.siteId, ...made.route })
      },
    },
    pages: {
      async ask(page) {
        asked.push(page)
        made.meanwhile()
        return made.answer
      },
      look() {},
      close: async () => {},
    },
    addressOf: ({ hostName }) => ({ scheme: 'https', host: hostName }),
    askTls: async () => {
      made.full++
      return made.tls
    },
    askDns: async () => made.dns,
    loadSites: async () => {
      refuse()
      if (listed === made.sites) return undefined
      listed = made.sites
      return made.sites
    },
    loadStates: async () => made.before,
    storeStates: async (rows) => {
      if (rows.length > 0) refuse()
      stored.push(...rows)
    },
    storeCounts: async (rows) => {
      refuse()
      for (const each of rows) for (const name of ['asked', 'slow', 'failed'] as const) sums[name] += each[name]
    },
    log: silent,
    now: () => 1_000_000 + made.ms,
    monotonic: () => made.ms,
  })
  return made
}

let it: ReturnType<typeof world>
beforeEach(() => {
  it = world()
})

const failing: HostAnswer = { status: 502, location: undefined, ms: 5 }

test('asks each site once a minute, at different seconds, and stores only the first state', async () => {
  it = world(Array.from({ length: 300 }, (_, n) => `s${n}.test`))
  await it.seconds(2)
  const before = it.asked.length
  await it.seconds(60)
  expect(it.asked.length - before).toBe(300)
  await it.seconds(10)
  const busiest = it.asked.length
  expect(busiest - before - 300).toBeLessThan(100)
  expect(it.stored).toHaveLength(300)
  expect(new Set(it.states())).toEqual(new Set(['up']))
  await it.monitor.stop()
  expect(it.sums).toEqual({ asked: it.asked.length, slow: 0, failed: 0 })
})

test('one failure is no news, two in a row are, with the time of the first', async () => {
  await it.seconds(61)
  it.answer = failing
  await it.seconds(1)
  while (it.asked.length < 2) await it.seconds(1)
  const since = 1_000_000 + it.ms
  it.answer = { ...failing, status: 200 }
  await it.seconds(20)
  expect([it.asked.length, it.states()]).toEqual([3, ['up']])
  it.answer = failing
  while (it.asked.length < 4) await it.seconds(1)
  const first = 1_000_000 + it.ms
  expect(first).toBeGreaterThan(since)
  await it.seconds(12)
  expect(it.states()).toEqual(['up', 'down status'])
  expect(it.stored[1]).toMatchObject({ since: first, detail: 'The front page answers 502' })
  it.answer = { ...failing, status: 200 }
  await it.seconds(80)
  expect(it.states()).toEqual(['up', 'down status', 'up'])
  await it.monitor.stop()
  expect(it.sums.failed).toBe(1)
})

test.each([
  [{ status: 500, location: undefined, ms: 5 }, 'down php'],
  [{ status: 504, location: undefined, ms: 5 }, 'down time'],
  [{ status: 404, location: undefined, ms: 5 }, 'down status'],
  [{ status: 301, location: 'https://site.test/', ms: 5 }, 'down status'],
  [{ status: 301, location: 'https://site.test/en/', ms: 5 }, 'up'],
  [{ status: 401, location: undefined, ms: 5 }, 'up'],
  [{ status: 200, location: undefined, ms: 3_500 }, 'slow time'],
  [{ code: 'HOST_HEAD_TIMEOUT' }, 'down time'],
])('%j is %s', async (answer, state) => {
  it.answer = answer
  await it.seconds(90)
  expect(it.states()).toEqual([state])
})

test('names and certificates with a fault are down, and asked for until they are right', async () => {
  await it.seconds(70)
  it.tls = 'The certificate of site.test has expired'
  await it.seconds(90)
  expect(it.states()).toEqual(['up', 'down tls'])
  it.tls = undefined
  it.dns = 'site.test points to 192.0.2.1'
  await it.seconds(90)
  expect(it.stored.at(-1)).toMatchObject({ state: 'down', reason: 'dns', detail: 'site.test points to 192.0.2.1' })
  it.dns = undefined
  await it.seconds(90)
  expect(it.states().at(-1)).toBe('up')
})

test('a domain that has never led here is no incident', async () => {
  it.dns = 'site.test has no address in the DNS'
  await it.seconds(150)
  expect(it.states()).toEqual(['unknown dns'])
  it.dns = undefined
  await it.seconds(90)
  expect(it.states()).toEqual(['unknown dns', 'up'])
  await it.monitor.stop()
  expect(it.sums.failed).toBe(0)
})

test('of many sites, few names and certificates are asked for in a minute', async () => {
  it = world(Array.from({ length: 1_000 }, (_, n) => `s${n}.test`))
  await it.seconds(61)
  const first = it.full
  expect(first).toBeLessThan(200)
  await it.seconds(480)
  expect(it.full - first).toBe(1_000)
})

test.each([
  { state: 'disabled' },
  { state: 'deploying' },
  { isInMaintenance: true },
  { isClosed: true },
  { isSuspended: true },
] as const)('is not asked while it is closed: %j', async (route) => {
  await it.seconds(61)
  it.answer = failing
  it.route = route
  const before = it.asked.length
  await it.seconds(130)
  expect(it.asked.length).toBe(before)
  expect(it.states()).toEqual(['up', 'paused'])
})

test('a site that is closed while it is asked is not down', async () => {
  await it.seconds(61)
  it.answer = failing
  it.meanwhile = () => {
    it.route = { isClosed: true }
  }
  await it.seconds(61)
  it.meanwhile = () => {}
  it.route = {}
  it.answer = { ...failing, status: 200 }
  await it.seconds(61)
  await it.monitor.stop()
  expect([it.states(), it.sums.failed]).toEqual([['up'], 0])
})

test('a machine that stood still drops what was asked before, and catches up on nothing', async () => {
  await it.seconds(61)
  const before = it.asked.length
  it.meanwhile = () => {
    it.answer = failing
    it.meanwhile = () => {}
    // Stopped for an hour, with this question on its way.
    it.ms += 3_600_000
    void it.monitor.tick()
  }
  await it.seconds(60)
  it.answer = { ...failing, status: 200 }
  expect(it.asked.length).toBeLessThanOrEqual(before + 2)
  await it.seconds(60)
  await it.monitor.stop()
  expect([it.states(), it.sums.failed]).toEqual([['up'], 0])
})

test('every fifth question is for a page of PHP, and a sleeping site wakes once a day', async () => {
  await it.seconds(1 + 60 * 10)
  const looks = it.asked.map(({ look }) => look)
  expect(looks.filter((look) => look === 'light')).toHaveLength(8)
  it.answer = { status: 204, location: undefined, ms: 5 }
  it.asked.splice(0)
  const minutes = (2 * DAY_MS) / 60_000
  await it.seconds(minutes * 60)
  expect(it.asked.filter(({ look }) => look === 'wake').length).toBeGreaterThanOrEqual(1)
  expect(it.asked.filter(({ look }) => look === 'wake').length).toBeLessThanOrEqual(3)
  expect(it.states()).toEqual(['up'])
}, 60_000)

test('a site that sleeps stays down until a page is right', async () => {
  await it.seconds(61)
  it.answer = { status: 500, location: undefined, ms: 5 }
  await it.seconds(330)
  expect(it.states()).toEqual(['up', 'down php'])
  it.answer = { status: 204, location: undefined, ms: 5 }
  const { length } = it.asked
  await it.seconds(60)
  expect(it.asked.slice(length).map(({ look }) => look)).not.toContain('light')
  if (!it.asked.slice(length).some(({ look }) => look === 'wake')) expect(it.states()).toEqual(['up', 'down php'])
})

test('states and counts wait until records can be written', async () => {
  await it.seconds(61)
  it.isAway = true
  it.answer = failing
  await it.seconds(600)
  expect([it.states(), it.sums.asked]).toEqual([['up'], expect.any(Number)])
  it.isAway = false
  await it.seconds(4)
  expect(it.states()).toEqual(['up', 'down status'])
  await it.monitor.stop()
  expect(it.sums.asked).toBeGreaterThan(9)
  expect(it.sums.failed).toBeGreaterThan(8)
})

test('goes on with what it has stored before it ended', async () => {
  const row = { site_id: 7, edge: 'a', host_name: 'site.test', state: 'down', reason: 'status', is_new: 0 } as const
  it.before.set(7, { ...row, detail: 'The front page answers 502', since: 5 })
  it.answer = failing
  await it.seconds(130)
  expect(it.stored).toEqual([])
  it.answer = { ...failing, status: 200 }
  await it.seconds(80)
  expect(it.states()).toEqual(['up'])
})

test('a site that is gone, or has another name, is forgotten', async () => {
  await it.seconds(61)
  it.sites = [{ siteId: 7, hostName: 'new.test', isDomain: true }]
  await it.seconds(130)
  expect(it.asked.at(-1)?.host).toBe('new.test')
  expect(it.stored.at(-1)).toMatchObject({ host_name: 'new.test', state: 'up' })
  it.sites = []
  await it.seconds(61)
  expect(it.monitor.size).toBe(0)
  const { length } = it.asked
  await it.seconds(61)
  expect(it.asked.length).toBe(length)
})

test('of many sites, a name with a fault is asked for in each minute', async () => {
  it = world(Array.from({ length: 1_000 }, (_, n) => `s${n}.test`))
  await it.seconds(480)
  it.tls = 'The certificate has expired'
  await it.seconds(480)
  expect(new Set(it.stored.slice(1_000).map(({ state }) => state))).toEqual(new Set(['down']))
  it.tls = undefined
  const { length } = it.stored
  await it.seconds(75)
  expect(it.stored.length - length).toBeGreaterThan(950)
})
