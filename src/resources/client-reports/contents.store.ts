import { sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { timestamp } from '../../platform/http/schemas.ts'
import { dayName } from '../../platform/log-store/days.ts'
import { MOST_LISTED, type ReportContents, type ReportedChange, type ReportedScores } from './contents.ts'
import {
  activityChanges,
  backupsDone,
  COUNTABLE_DAYS,
  clockOf,
  type DayCounts,
  proofsDone,
} from './day-counts.store.ts'
import type { Month, Span } from './month.ts'

/* Reads what the tables of other resources tell of a site in a part of a month. */

/** More incidents than an edge can see in a month. */
const MOST_INCIDENTS = 10_000

export async function uptimeIn(tx: Tx, siteId: number, span: Span): Promise<ReportContents['uptime']> {
  const rows = await tx
    .selectFrom('uptime_days')
    .select(['day', 'asked', 'failed'])
    .where('site_id', '=', siteId)
    .where('day', '>=', span.firstDay)
    .where('day', '<=', span.lastDay)
    .execute()
  const percent = percentOf(rows)
  if (percent === null) return null
  const byDay = Map.groupBy(rows, ({ day }) => day)
  const incidents = await tx
    .selectFrom('site_incidents')
    .select(['began_at', 'ended_at', 'reason', 'detail'])
    .where('site_id', '=', siteId)
    .where('began_at', '<', span.to)
    .where(({ or, eb }) => or([eb('ended_at', 'is', null), eb('ended_at', '>', span.from)]))
    .orderBy('began_at')
    .limit(MOST_INCIDENTS)
    .execute()
  const downMs = incidents.reduce(
    (sum, { began_at, ended_at }) =>
      sum + Math.max(0, Math.min(ended_at ?? span.to, span.to) - Math.max(began_at, span.from)),
    0,
  )
  return {
    percent,
    days: daysOfSpan(span).map((day) => percentOf(byDay.get(day) ?? [])),
    incidents: incidents.length,
    down_minutes: Math.ceil(downMs / 60_000),
    list: incidents.slice(0, MOST_LISTED).map(({ began_at, ended_at, reason, detail }) => ({
      began_at: timestamp(began_at),
      ended_at: ended_at === null ? null : timestamp(ended_at),
      reason,
      detail,
    })),
  }
}

const daysOfSpan = ({ firstDay, lastDay }: Span): number[] =>
  Array.from({ length: lastDay - firstDay + 1 }, (_, at) => firstDay + at)

/** Rounds down, so that only a site that was never down has 100 %. */
function percentOf(days: readonly { readonly asked: number; readonly failed: number }[]): number | null {
  const asked = days.reduce((sum, day) => sum + Number(day.asked), 0)
  const failed = days.reduce((sum, day) => sum + Number(day.failed), 0)
  return asked === 0 ? null : Math.floor(((asked - failed) / asked) * 100_000) / 1000
}

/** The parts of a report that are counted day by day. */
export interface Counted {
  readonly updates: ReportContents['updates']
  readonly backups: ReportContents['backups']
}

/** Returns updates and backups. Null for a part of a month before Stead counted them. */
export async function countedIn(tx: Tx, siteId: number, span: Span): Promise<Counted> {
  const clock = await clockOf(tx)
  if (!clock && !span.isOpen) return { updates: null, backups: null }
  const firstDay = Math.max(span.firstDay, clock?.first_day ?? span.lastDay - COUNTABLE_DAYS + 1)
  if (firstDay > span.lastDay) return { updates: null, backups: null }
  const since = dayName(firstDay)
  const days = [
    ...(await storedDays(tx, siteId, { firstDay, lastDay: Math.min(span.lastDay, clock?.last_day ?? -1) })),
    ...(await daysSince(tx, siteId, { from: ((clock?.last_day ?? firstDay - 1) + 1) * DAY_MS, span })),
  ]
  const sum = (of: keyof Omit<DayCounts, 'changes'>) => days.reduce((total, day) => total + day[of], 0)
  const changes = [...days.flatMap((day) => day.changes), ...(await safeChanges(tx, siteId, span))]
  const ofOutcome = (outcome: ReportedChange['outcome']) => changes.filter((each) => each.outcome === outcome).length
  return {
    updates: {
      ...{ done: ofOutcome('done'), undone: ofOutcome('undone'), failed: ofOutcome('failed'), counted_since: since },
      list: changes.toSorted((one, other) => (one.at < other.at ? -1 : 1)).slice(0, MOST_LISTED),
    },
    backups: {
      ...{ files: sum('files'), databases: sum('databases'), counted_since: since },
      ...{ proven: sum('proven'), not_proven: sum('not_proven') },
    },
  }
}

async function storedDays(
  tx: Tx,
  siteId: number,
  { firstDay, lastDay }: { readonly firstDay: number; readonly lastDay: number },
): Promise<DayCounts[]> {
  const rows = await tx
    .selectFrom('client_report_days')
    .selectAll()
    .where('site_id', '=', siteId)
    .where('day', '>=', firstDay)
    .where('day', '<=', lastDay)
    .execute()
  return rows.map(({ files, databases, proven, not_proven, changes }) => ({
    ...{ files, databases, proven, not_proven },
    changes: JSON.parse(changes) as ReportedChange[],
  }))
}

/** Returns what has happened since the last counted day. */
async function daysSince(
  tx: Tx,
  siteId: number,
  { from, span }: { readonly from: number; readonly span: Span },
): Promise<DayCounts[]> {
  const rest = { from: Math.max(from, span.from), to: span.to, siteId }
  if (rest.from >= rest.to) return []
  const [backups] = await backupsDone(tx, rest)
  const [proofs] = await proofsDone(tx, rest)
  const changes = (await activityChanges(tx, rest)).map(({ change }) => change)
  return [{ ...noCounts, ...backups?.counts, ...proofs?.counts, changes }]
}

const noCounts = { files: 0, databases: 0, proven: 0, not_proven: 0 }

interface SafeItem {
  readonly name: string
  readonly outcome: string
  readonly from: string | null
  readonly to: string | null
  readonly message: string
}

/** Returns updates that Stead compared before and after. They are kept for 90 days. */
async function safeChanges(tx: Tx, siteId: number, span: Span): Promise<ReportedChange[]> {
  const rows = await tx
    .selectFrom('safe_updates')
    .select(['state', 'items', 'ended_at'])
    .where('site_id', '=', siteId)
    .where('ended_at', '>=', span.from)
    .where('ended_at', '<', span.to)
    .orderBy('operation_id')
    .execute()
  return rows.flatMap(({ state, items, ended_at }) =>
    (JSON.parse(items) as SafeItem[]).flatMap((item) => {
      const told = safeChange(state, item)
      return told ? [{ at: timestamp(Number(ended_at)), ...told }] : []
    }),
  )
}

function safeChange(state: string, item: SafeItem): Omit<ReportedChange, 'at'> | undefined {
  const { name, outcome, from, to, message } = item
  if (outcome === 'failed') return { text: message, outcome: 'failed' }
  if (outcome !== 'updated') return undefined
  if (state === 'kept') return { text: message, outcome: 'done' }
  if (state !== 'undone') return undefined
  return {
    text: `Tried ${name} ${to ?? ''}, found a fault, and went back to ${from ?? 'the earlier version'}`,
    outcome: 'undone',
  }
}

export async function visitsIn(tx: Tx, siteId: number, span: Span, before: Span): Promise<ReportContents['visits']> {
  const rows = await tx
    .selectFrom('page_view_days')
    .select(['day', 'people', 'views'])
    .where('site_id', '=', siteId)
    .where('day', '>=', before.firstDay)
    .where('day', '<=', span.lastDay)
    .execute()
  const within = ({ firstDay, lastDay }: Span) => rows.filter(({ day }) => day >= firstDay && day <= lastDay)
  const [these, earlier] = [within(span), within(before)]
  if (these.length === 0) return null
  const sum = (some: typeof rows, of: 'people' | 'views') => some.reduce((total, row) => total + Number(row[of]), 0)
  const views = new Map(these.map((row) => [row.day, Number(row.views)]))
  return {
    visits: sum(these, 'people'),
    views: sum(these, 'views'),
    visits_before: earlier.length > 0 ? sum(earlier, 'people') : null,
    views_before: earlier.length > 0 ? sum(earlier, 'views') : null,
    days: daysOfSpan(span).map((day) => views.get(day) ?? 0),
  }
}

/** Returns the last measurement of a month, and that of the month before, or else the first one that is left. */
export async function performanceIn(
  tx: Tx,
  siteId: number,
  span: Span,
  month: Month,
): Promise<ReportContents['performance']> {
  const measured = tx
    .selectFrom('performance_reports')
    .select(['id', 'desktop', 'mobile', 'created_at'])
    .where('site_id', '=', siteId)
    .where('created_at', '>=', span.from)
    .where('created_at', '<', span.to)
    .limit(1)
  const last = await measured.orderBy('id', 'desc').executeTakeFirst()
  if (!last) return null
  const first = await measured.orderBy('id').executeTakeFirst()
  const earlier = await storedContents(tx, siteId, month - 1)
  return {
    now: scoresOf(last),
    before: earlier?.performance?.now ?? (first && first.id !== last.id ? scoresOf(first) : null),
  }
}

function scoresOf(row: { desktop: string; mobile: string; created_at: number }): ReportedScores {
  const score = (text: string) => {
    const { performance_score: share } = JSON.parse(text) as { performance_score?: unknown }
    return typeof share === 'number' ? Math.round(share * 100) : null
  }
  return { at: timestamp(Number(row.created_at)), desktop: score(row.desktop), mobile: score(row.mobile) }
}

export async function domainsNow(tx: Tx, siteId: number): Promise<ReportContents['domains']> {
  const { domains } = await tx
    .selectFrom('routes')
    .select(({ fn }) => fn.countAll<number>().as('domains'))
    .where('site_id', '=', siteId)
    .where('is_domain', '=', sql.lit(1))
    .executeTakeFirstOrThrow()
  const certificates = await tx
    .selectFrom('certificates')
    .select(['expires_at'])
    .select(sql<number>`case when chain is null then 0 else 1 end`.as('is_issued'))
    .where('site_id', '=', siteId)
    .execute()
  const issued = certificates.filter((row) => Number(row.is_issued) === 1)
  const expiries = issued.flatMap(({ expires_at }) => (expires_at === null ? [] : [Number(expires_at)]))
  return {
    domains: Number(domains),
    certificates: issued.length,
    missing: certificates.length - issued.length,
    valid_until: expiries.length > 0 ? timestamp(Math.min(...expiries)) : null,
  }
}

/** Returns the stored report of a month that has ended. */
export async function storedContents(tx: Tx, siteId: number, month: Month): Promise<ReportContents | undefined> {
  const row = await tx
    .selectFrom('client_reports')
    .select('contents')
    .where('site_id', '=', siteId)
    .where('month', '=', month)
    .executeTakeFirst()
  return row && (JSON.parse(row.contents) as ReportContents)
}
