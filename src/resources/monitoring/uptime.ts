import Type from 'typebox'
import { monitoringReasons } from '../../edge/monitor/finding.ts'
import type { Tx } from '../../platform/db/database.ts'
import { nullable, oneOf, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { dayName, dayOf } from '../../platform/log-store/days.ts'
import { askingEdges, uptimeOf } from './monitoring.store.ts'
import type { SiteIncidentRow, SiteMonitoringRow } from './tables.ts'

/** All states of a site. */
export const monitoringStates = ['up', 'slow', 'down', 'paused', 'unknown'] as const
export const HISTORY = 90

const percent = nullable(
  Type.Number({
    description:
      'Share of the questions that the site answered, in percent with three decimals. Null without questions',
    examples: [99.985],
  }),
)

/** The state of a site, in answers of the API. */
export const stateFields = {
  state: oneOf(monitoringStates, {
    description:
      '`paused`: the site is disabled, in maintenance, or closed by an operation. `unknown`: nobody has asked it in the last minutes, or its domain has never led here',
    examples: ['up'],
  }),
  since: nullable({ ...Timestamp, description: 'Since when it has this state' }),
  reason: nullable(
    oneOf(monitoringReasons, {
      description:
        'Why it is slow or down. `dns`: its name does not lead here. `tls`: browsers refuse its certificate. `status`: status of the front page. `php`: PHP ended with an error. `time`: no answer in time',
      examples: ['php'],
    }),
  ),
  detail: Type.String({ description: 'The reason in words, or empty', examples: [''] }),
}

export const DayUptime = Type.Object(
  {
    date: Type.String({ description: 'In UTC', examples: ['2026-01-31'] }),
    percent,
    asked: Type.Integer({ description: 'How often edges asked the site', examples: [1440] }),
    slow: Type.Integer({ description: 'How often it was slow', examples: [2] }),
    failed: Type.Integer({ description: 'How often it was down', examples: [0] }),
  },
  { title: 'DayUptime' },
)

export const Incident = Type.Object(
  {
    id: Type.Integer({ examples: [3] }),
    began_at: Timestamp,
    ended_at: nullable({ ...Timestamp, description: 'Null while the site is down' }),
    reason: oneOf(monitoringReasons, { description: 'See the state of the site', examples: ['status'] }),
    detail: Type.String({ examples: ['The front page answers 502'] }),
  },
  { title: 'SiteIncident' },
)

export const percentField = percent

export const presentIncident = (row: SiteIncidentRow & { id: number }): Type.Static<typeof Incident> => ({
  id: row.id,
  began_at: timestamp(row.began_at),
  ended_at: row.ended_at === null ? null : timestamp(row.ended_at),
  reason: row.reason,
  detail: row.detail,
})

/** Returns a state for the API. Without an edge that asks, it is unknown. */
export function presentState(row: Partial<Nullable<SiteMonitoringRow>> | undefined, isAsked: boolean) {
  if (!isAsked || !row?.state) return { state: 'unknown' as const, since: null, reason: null, detail: '' }
  const { state, since, reason, detail } = row
  return { state, since: since ? timestamp(since) : null, reason: reason ?? null, detail: detail ?? '' }
}

type Nullable<Row> = { [Key in keyof Row]: Row[Key] | null }

export const isAsked = async (tx: Tx, now: number): Promise<boolean> => (await askingEdges(tx, now)).length > 0

type Counts = { readonly asked: number; readonly slow: number; readonly failed: number }

/** Rounds down, so that only a site that was never down has 100 %. */
export const percentOf = ({ asked, failed }: Counts): number | null =>
  asked === 0 ? null : Math.floor(((asked - failed) / asked) * 100_000) / 1000

/** Returns each of the last 90 days of sites, today last, and their sum. */
export async function historyOf(tx: Tx, siteIds: readonly number[], now: number) {
  const today = dayOf(now)
  const first = today - HISTORY + 1
  const rows = Map.groupBy(await uptimeOf(tx, siteIds, first, today), ({ site_id }) => site_id)
  return (siteId: number) => {
    const byDay = new Map(rows.get(siteId)?.map((row) => [row.day, row]))
    const days = Array.from({ length: HISTORY }, (_, at) => {
      const { asked = 0, slow = 0, failed = 0 } = byDay.get(first + at) ?? {}
      return { date: dayName(first + at), percent: percentOf({ asked, slow, failed }), asked, slow, failed }
    })
    const total = days.reduce(
      (sum, day) => ({ asked: sum.asked + day.asked, slow: sum.slow + day.slow, failed: sum.failed + day.failed }),
      { asked: 0, slow: 0, failed: 0 },
    )
    return { days, percent: percentOf(total) }
  }
}
