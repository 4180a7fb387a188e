import type { MonitoringStateRow } from '../../edge/tables.ts'
import type { SiteMonitoringRow } from './tables.ts'

/** What edges say about a site, together. */
export type Verdict = Omit<SiteMonitoringRow, 'site_id'>

type Vote = Pick<MonitoringStateRow, 'state' | 'reason' | 'detail' | 'since'>

/**
 * Concludes from what the edges say that ask at this time. A site is down when its only edge says so, or of several at
 * least two, and at least half: one alone may have lost its own network. The same is true for slow.
 * @returns undefined when no edge asks, because unknown is not down
 */
export function verdictOf(votes: readonly Vote[]): Verdict | undefined {
  const about = votes.filter(({ state }) => state !== 'paused' && state !== 'unknown')
  // Every edge reads the same records, so they agree on this soon.
  if (about.length === 0) return votes.length > 0 ? earliest(votes) : undefined
  const down = about.filter(({ state }) => state === 'down')
  if (isEnough(down, about)) return earliest(down)
  const bad = about.filter(({ state }) => state !== 'up')
  const slow = bad.filter(({ state }) => state === 'slow')
  if (slow.length > 0 && isEnough(bad, about)) return earliest(slow)
  const up = about.filter(({ state }) => state === 'up')
  const since = Math.max(...(up.length > 0 ? up : about).map((each) => each.since))
  return { state: 'up', reason: null, detail: '', since }
}

const isEnough = (these: readonly Vote[], all: readonly Vote[]): boolean =>
  these.length >= Math.min(2, all.length) && these.length * 2 >= all.length && these.length > 0

const earliest = (votes: readonly Vote[]): Verdict => {
  const { state, reason, detail, since } = votes.reduce((first, each) => (each.since < first.since ? each : first))
  return { state, reason, detail, since }
}
