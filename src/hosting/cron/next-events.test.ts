import { describe, expect, it } from 'vitest'
import { HOUSEKEEPING_DELAY_MS, nextEvents, runAt } from './next-events.ts'

describe('when events run', () => {
  it('picks the earliest event of each kind', () => {
    const events = [
      { hook: 'wp_scheduled_delete', at: 300 },
      { hook: 'publish_future_post', at: 500 },
      { hook: 'delete_expired_transients', at: 200 },
      { hook: 'some_plugin', at: 400 },
    ]
    expect(nextEvents(events)).toEqual({ urgentAt: 400, housekeepingAt: 200 })
    expect(nextEvents([])).toEqual({ urgentAt: null, housekeepingAt: null })
  })

  it('delays only the housekeeping of a site that nobody visits', () => {
    expect(runAt({ urgentAt: 400, housekeepingAt: 200 }, false)).toBe(400)
    expect(runAt({ urgentAt: null, housekeepingAt: 200 }, false)).toBe(200 + HOUSEKEEPING_DELAY_MS)
    expect(runAt({ urgentAt: 400, housekeepingAt: 200 }, true)).toBe(200)
    expect(runAt({ urgentAt: null, housekeepingAt: null }, false)).toBe(Infinity)
  })
})
