import { beforeEach, describe, expect, it, vi } from 'vitest'
import { PhpBusy, PhpStarved, PhpTimeout } from '../php/runtime.ts'
import type { HostedSite } from '../web-server/hosted-site.ts'
import { Cron, type CronOptions } from './cron.ts'
import type { EventSource, Look } from './event-source.ts'
import type { NextEvents } from './next-events.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Uses fake databases and fake PHP. The clock stands still unless a test moves it. */
describe('looking for scheduled events on a host', () => {
  let now: number
  let sites: HostedSite[]
  let events: Map<string, NextEvents | 'busy' | 'unknown'>
  let version: number
  let active: Set<number>
  const mark = vi.fn<EventSource['mark']>()
  const read = vi.fn<EventSource['read']>()
  const runTask = vi.fn()
  const answer = { ran: 1, failed: [], passed: [], isMore: false, blogs: [], nextInSeconds: null }
  const log = { debug: vi.fn(), warn: vi.fn() }
  let options: CronOptions
  let cron: Cron

  const site = (siteId: number, state: HostedSite['state'] = 'live'): HostedSite => ({
    siteId,
    state,
    siteDirectory: `/h${siteId}`,
    corePath: '/core',
    phpVersion: '8.3',
    uid: null,
    address: 'x',
  })
  /** Schedules events in a site's database. */
  const plan = (siteId: number, next: Partial<NextEvents> | 'busy' | 'unknown') => {
    version++
    events.set(`/h${siteId}`, typeof next === 'string' ? next : { urgentAt: null, housekeepingAt: null, ...next })
  }
  const ran = () => runTask.mock.calls.map(([each]) => (each as HostedSite).siteId)

  beforeEach(() => {
    vi.resetAllMocks()
    now = 1_800_000_000_000
    version = 0
    sites = [site(1), site(2), site(3)]
    events = new Map()
    active = new Set()
    mark.mockImplementation((directory) => (events.has(directory) ? `${directory} ${version}` : undefined))
    read.mockImplementation(async (directory): Promise<Look> => {
      const next = events.get(directory) as NextEvents | 'busy' | 'unknown'
      if (next === 'busy') return { kind: 'busy' }
      if (next === 'unknown') return { kind: 'unknown', reason: 'a test' }
      return { kind: 'read', next, settled: true }
    })
    // Due events are gone after a run, as with WordPress.
    runTask.mockImplementation(async ({ siteId }: HostedSite) => {
      plan(siteId, {})
      return answer
    })
    options = {
      sites: async () => sites,
      siteById: async (siteId) => sites.find((each) => each.siteId === siteId),
      php: { runTask, pidOf: (siteId) => (active.has(siteId) ? 1 : undefined) },
      events: { mark, read },
      log,
      clock: () => now,
    }
    cron = new Cron(options)
  })

  it('runs due events in the background, the longest overdue first, and none before their time', async () => {
    plan(1, { urgentAt: now - 1000 })
    plan(2, { urgentAt: now - 5000 })
    plan(3, { urgentAt: now + 1 })
    await cron.pass()
    expect(ran()).toEqual([2, 1])
    const nothing = { blog: null, failures: [], cutOff: null }
    const how = { background: true, makeRoom: false, longMs: 10 * MINUTE }
    expect(runTask).toHaveBeenCalledWith(sites[0], 'cron', nothing, how)
    now += 1
    await cron.pass()
    await cron.pass()
    expect(ran()).toEqual([2, 1, 3])
    expect(cron.stats()).toEqual({ runs: 3, failures: 0, due: 0 })
    expect(log.warn).not.toHaveBeenCalled()
  })

  it.each([
    ['in safe mode', { isInSafeMode: true }],
    ['that is being worked on', { isClosed: true }],
  ])('runs nothing of a site %s, and runs what became due as soon as that ends', async (_what, off) => {
    sites = [{ ...site(1), ...off }, site(2)]
    for (const { siteId } of sites) plan(siteId, { urgentAt: now })
    await cron.pass()
    expect(ran()).toEqual([2])
    sites = [site(1), site(2)]
    await cron.pass()
    expect(ran()).toEqual([2, 1])
    // Switched between the check and the run.
    plan(2, { urgentAt: now })
    const look = sites
    sites = [site(1), { ...site(2), ...off }]
    await new Cron({ ...options, sites: async () => look }).pass()
    expect(ran()).toEqual([2, 1])
  })

  it('collects the housekeeping of an unvisited site for 12 h, even across a restart, and runs that of an active site when due', async () => {
    plan(1, { housekeepingAt: now })
    plan(2, { housekeepingAt: now })
    active.add(2)
    await cron.pass()
    expect(ran()).toEqual([2])
    now += 12 * HOUR - 1
    await cron.pass()
    expect(ran()).toEqual([2])
    now += 1
    await cron.pass()
    expect(ran()).toEqual([2, 1])
  })

  it('checks 1,000 idle sites by their marks alone', async () => {
    sites = Array.from({ length: 1000 }, (_, index) => site(index + 1))
    for (const { siteId } of sites) plan(siteId, { urgentAt: now + HOUR, housekeepingAt: now })
    await cron.pass()
    expect(read).toHaveBeenCalledTimes(1000)
    await cron.pass()
    await cron.pass()
    expect(read).toHaveBeenCalledTimes(1000)
    expect(mark).toHaveBeenCalledTimes(3000)
    expect(runTask).not.toHaveBeenCalled()
  })

  it('skips sites that are not live, or no longer live when their turn comes', async () => {
    sites = [site(1, 'disabled'), site(2, 'deploying'), site(3)]
    for (const { siteId } of sites) plan(siteId, { urgentAt: now - 1 })
    mark.mockImplementationOnce(() => {
      sites = []
      return 'x'
    })
    await cron.pass()
    expect(runTask).not.toHaveBeenCalled()
  })

  it('retries a failing site at growing intervals, logs it once, and runs the others meanwhile', async () => {
    plan(1, { urgentAt: now - HOUR })
    runTask.mockImplementation(async ({ siteId }: HostedSite) => {
      if (siteId === 1) throw new Error('a plugin ended the run')
      plan(siteId, {})
      return answer
    })
    const attempts: number[] = []
    for (let minute = 0; minute <= 24 * 60; minute++) {
      const before = ran().filter((siteId) => siteId === 1).length
      plan(2, { urgentAt: now })
      await cron.pass()
      if (ran().filter((siteId) => siteId === 1).length > before) attempts.push(minute)
      now += MINUTE
    }
    expect(attempts).toEqual([0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 871, 1231])
    expect(ran().filter((siteId) => siteId === 2).length).toBe(24 * 60 + 1)
    expect(log.warn).toHaveBeenCalledTimes(1)
    runTask.mockImplementation(async () => {
      plan(1, { urgentAt: now + 7 * HOUR })
      return answer
    })
    now += 6 * HOUR
    await cron.pass()
    runTask.mockRejectedValue(new Error('again'))
    now += 7 * HOUR
    await cron.pass()
    await cron.pass()
    expect(log.warn).toHaveBeenCalledTimes(2)
  })

  it('does not repeat forever when events are still due after a run that reported success', async () => {
    plan(1, { urgentAt: now - HOUR })
    runTask.mockResolvedValue({ ...answer, ran: 1e9, failed: ['x'], nextInSeconds: 0 })
    for (let minute = 0; minute < 600; minute++) {
      await cron.pass()
      now += MINUTE
    }
    expect(runTask.mock.calls.length).toBeLessThan(15)
    expect(log.warn).toHaveBeenCalledTimes(1)
  })

  it('runs events that a run planned in the past a minute later, and counts no failure', async () => {
    plan(1, { urgentAt: now - HOUR })
    for (let minute = 1; minute <= 10; minute++) {
      await cron.pass()
      expect(runTask).toHaveBeenCalledTimes(minute)
      now += MINUTE
      plan(1, { urgentAt: now - HOUR })
    }
    expect(log.warn).not.toHaveBeenCalled()
    expect(cron.stats()).toMatchObject({ failures: 0 })
  })

  it('lets events wait for memory for a while, then has a site make room', async () => {
    plan(1, { urgentAt: now })
    runTask.mockRejectedValue(new PhpBusy('no memory'))
    for (let minute = 0; minute <= 15; minute++) {
      await cron.pass()
      now += MINUTE
    }
    const asked = runTask.mock.calls.map(([, , , options]) => (options as { makeRoom: boolean }).makeRoom)
    expect(asked).toEqual([...Array(15).fill(false), true])
    expect(log.warn).not.toHaveBeenCalled()
  })

  it('runs a site whose events it cannot read when its WordPress asked for it, at least once an hour', async () => {
    plan(1, 'unknown')
    runTask
      .mockResolvedValueOnce({ ...answer, nextInSeconds: 300 })
      .mockResolvedValue({ ...answer, nextInSeconds: 86_400 })
    const runs: number[] = []
    for (let minute = 0; minute < 130; minute++) {
      const before = runTask.mock.calls.length
      await cron.pass()
      if (runTask.mock.calls.length > before) runs.push(minute)
      now += MINUTE
    }
    expect(runs).toEqual([0, 5, 65, 125])
    expect(read).toHaveBeenCalledTimes(1)
  })

  it('checks again later while a database is being written, and leaves an interrupted write to WordPress', async () => {
    plan(1, 'busy')
    plan(2, 'busy')
    active.add(1)
    await cron.pass()
    expect(ran()).toEqual([2])
    plan(1, { urgentAt: now })
    await cron.pass()
    expect(ran()).toEqual([2, 1])
  })

  it.each([
    ['back', -HOUR],
    ['forward', HOUR],
  ])('keeps its pauses and its patience at full length when the clock is set %s', async (_, jump) => {
    let set = 0
    cron = new Cron({
      sites: async () => sites,
      siteById: async (siteId) => sites.find((each) => each.siteId === siteId),
      php: { runTask, pidOf: () => undefined },
      events: { mark, read },
      log,
      clock: () => now + set,
      monotonic: () => now,
    })
    sites = [site(1), site(2)]
    // Long overdue by both clocks.
    plan(1, { urgentAt: now - 9 * HOUR })
    plan(2, 'unknown')
    runTask.mockImplementation(async ({ siteId }: HostedSite) => {
      // Jump in the middle of a run, while everything is remembered.
      if (now === began + 3 * MINUTE) set = jump
      if (siteId === 1) throw new Error('a plugin ended the run')
      return { ...answer, nextInSeconds: 600 }
    })
    const began = now
    const runs: string[] = []
    for (let minute = 0; minute <= 31; minute++) {
      const before = ran().length
      await cron.pass()
      for (const siteId of ran().slice(before)) runs.push(`${siteId} ${minute}`)
      now += MINUTE
    }
    expect(runs.toSorted()).toEqual(['1 0', '1 1', '1 15', '1 3', '1 31', '1 7', '2 0', '2 10', '2 20', '2 30'])
  })

  it('runs the remaining events immediately when an event ends its request', async () => {
    plan(1, { urgentAt: now })
    runTask.mockResolvedValueOnce({ ...answer, isMore: true })
    await cron.pass()
    expect(ran()).toEqual([1, 1])
    expect(log.warn).not.toHaveBeenCalled()
    // At most as often as a run has attempts.
    plan(1, { urgentAt: now })
    runTask.mockResolvedValue({ ...answer, isMore: true })
    await cron.pass()
    expect(ran()).toHaveLength(22)
  })

  it('counts the failures of each event, reports one that was cut off, and runs the others immediately', async () => {
    const say = vi.fn(async () => {})
    cron = new Cron({ ...options, say })
    sites = [site(1)]
    plan(1, { urgentAt: now })
    runTask.mockImplementationOnce(async () => {
      cron.hear(1, JSON.stringify({ event: 'backup' }))
      cron.hear(1, 'something else')
      throw new PhpTimeout('PHP did not finish the task cron in time')
    })
    runTask.mockImplementationOnce(async () => ({ ...answer, failed: ['report'] }))
    await cron.pass()
    const asked = () => runTask.mock.calls.map(([, , input]) => input)
    expect(asked()).toEqual([
      { blog: null, failures: [], cutOff: null },
      { blog: null, failures: [{ hook: 'backup', times: 1 }], cutOff: 'backup' },
    ])
    expect(say.mock.calls).toEqual([
      [sites[0], expect.stringMatching(/event backup was cut off: .* comes again later/)],
    ])
    expect(log.warn).not.toHaveBeenCalled()
    plan(1, { urgentAt: now })
    runTask.mockResolvedValueOnce({ ...answer, failed: ['backup'], passed: ['report'] })
    await cron.pass()
    plan(1, { urgentAt: now })
    await cron.pass()
    expect(asked().at(-1)).toEqual({ blog: null, failures: [{ hook: 'backup', times: 2 }], cutOff: null })
    // Running out of CPU time is not the event's fault.
    runTask.mockImplementationOnce(async () => {
      cron.hear(1, JSON.stringify({ event: 'report' }))
      throw new PhpStarved('too busy')
    })
    plan(1, { urgentAt: now })
    await cron.pass()
    expect(log.warn).toHaveBeenCalledTimes(1)
    expect(say).toHaveBeenCalledTimes(1)
  })

  it('runs the due events of each site of a network, even when one of the sites cannot run', async () => {
    const blogs = ['/two/', '/three/'].map((path) => ({ domain: 'x', path }))
    plan(1, { urgentAt: now })
    runTask.mockResolvedValueOnce({ ...answer, blogs })
    runTask.mockRejectedValueOnce(new Error('its theme is broken'))
    await cron.pass()
    expect(runTask.mock.calls.map(([, , { blog }]) => blog)).toEqual([null, ...blogs])
    expect(log.warn).toHaveBeenCalledTimes(1)
  })

  it('continues with other sites when one takes long, and does not start that one twice', async () => {
    const long = Promise.withResolvers<unknown>()
    cron = new Cron({ ...options, aloneMs: 1 })
    plan(1, { urgentAt: now - 1 })
    plan(2, { urgentAt: now })
    runTask.mockImplementationOnce(() => long.promise)
    await cron.pass()
    expect(ran()).toEqual([1, 2])
    await cron.pass()
    expect(ran()).toEqual([1, 2])
    const stopping = cron.stop()
    long.resolve(answer)
    await stopping
  })

  it('continues when a disk fails under one site', async () => {
    plan(1, { urgentAt: now })
    plan(2, { urgentAt: now })
    read.mockImplementationOnce(async () => {
      throw Object.assign(new Error('EIO'), { code: 'EIO' })
    })
    await cron.pass()
    expect(ran()).toEqual([2])
    expect(log.warn).toHaveBeenCalledTimes(1)
  })

  it('checks again after a minute of running, and starts nothing once it is stopped', async () => {
    for (const { siteId } of sites) plan(siteId, { urgentAt: now - siteId })
    const usual = runTask.getMockImplementation() as (site: HostedSite) => Promise<unknown>
    runTask.mockImplementation(async (which: HostedSite) => {
      now += MINUTE
      return usual(which)
    })
    await cron.pass()
    expect(ran()).toEqual([3])
    await cron.stop()
    await cron.pass()
    expect(ran()).toEqual([3])
  })
})
