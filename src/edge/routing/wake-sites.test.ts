import { expect, test, vi } from 'vitest'
import { routeTo } from '../test-support.ts'
import { createWakeSites } from './wake-sites.ts'

function setUp({ holdsFrontPage = false } = {}) {
  const clock = { ms: 1000 }
  const ask = vi.fn()
  const wake = createWakeSites({
    upstreams: { ask },
    hostKey: 'key',
    holdsFrontPage: () => holdsFrontPage,
    now: () => clock.ms,
  })
  return { clock, ask, wake }
}
const site = (siteId: number, more = {}) => routeTo('http://127.0.0.1:1', { siteId, ...more })

test('notifies a host once when a visitor connects to a site, and again ten seconds later', () => {
  const { clock, ask, wake } = setUp()
  wake(site(7))
  wake(site(7))
  expect(ask).toHaveBeenCalledTimes(1)
  expect(ask.mock.calls[0]?.[0]).toBe('http://127.0.0.1:1')
  expect(ask.mock.calls[0]?.[1].headers).toEqual(expect.arrayContaining(['x-stead-site', '7', 'x-stead-key', 'key']))
  clock.ms += 9000
  wake(site(7))
  expect(ask).toHaveBeenCalledTimes(1)
  clock.ms += 2000
  wake(site(7))
  expect(ask).toHaveBeenCalledTimes(2)
})

test('limits announcements to five a second, even if a client connects to thousands of sites', () => {
  const { clock, ask, wake } = setUp()
  for (let siteId = 1; siteId <= 1000; siteId++) wake(site(siteId))
  expect(ask).toHaveBeenCalledTimes(5)
  clock.ms += 1000
  for (let siteId = 1; siteId <= 1000; siteId++) wake(site(siteId))
  expect(ask).toHaveBeenCalledTimes(10)
})

test.each([
  ['is being made', { state: 'deploying' as const }],
  ['is switched off', { state: 'disabled' as const }],
  ['is being worked on', { isClosed: true }],
  ['shows its maintenance page', { isInMaintenance: true }],
  ['holds off a flood', { defensiveUntilMs: Date.now() + 60_000 }],
])('does not wake PHP of a site that %s', (_, more) => {
  const { ask, wake } = setUp()
  wake(site(7, more))
  expect(ask).not.toHaveBeenCalled()
})

test('does not wake PHP if the front page is in the cache', () => {
  const { ask, wake } = setUp({ holdsFrontPage: true })
  wake(site(7))
  expect(ask).not.toHaveBeenCalled()
})
