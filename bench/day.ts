import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openDatabase } from '../src/platform/db/database.ts'
import { enqueue } from '../src/platform/operations/enqueue.ts'
import { refreshOpenStatistics, refreshStatistics } from '../src/resources/statistics/refresh-statistics.job.ts'
import { type Stead, startStead, until } from '../test/support/stead.ts'
import { A_DAY, type DayPlan, HOURS, type Hour, passDay } from './day-load.ts'
import { memoryMb } from './support/memory.ts'
import { type Figure, percentile, type Section } from './support/report.ts'
import { ownCpuOf, startPart } from './support/servers.ts'
import { addIdleSites } from './support/sites.ts'

/** Starts the work of real sites, one kind after the other. */
const BACKUPS_A_DAY = 1

/**
 * Simulates a day of many sites in less time: visits by Zipf and by the hour, calls of the API, purges, backups,
 * statistics. Flags: `--minutes` that the day takes (24), `--sites` (10,000), `--real` of them with files and PHP
 * (every hundredth), `--share` of the visits and calls of a day (1).
 */
export async function dayBench(): Promise<Section> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      sites: { type: 'string' },
      real: { type: 'string' },
      share: { type: 'string' },
    },
    allowPositionals: true,
    strict: false,
  })
  const minutes = Number(values.minutes ?? 24)
  const sites = Number(values.sites ?? 10_000)
  const share = Number(values.share ?? 1)
  const real = Number(values.real ?? Math.ceil(sites / 100))
  const origin = await startPart(join(import.meta.dirname, 'day-load.ts'), 'origin')
  const stead = await startStead({ env: { STEAD_RATE_LIMIT: '0', STEAD_LOG_LEVEL: 'warn' } })
  try {
    const realIds: number[] = []
    for (let n = 0; n < real; n++) realIds.push(await stead.createSite({ name: `real-${n}` }))
    const upstream = `http://127.0.0.1:${origin.port}`
    await addIdleSites(stead, { count: sites - real, upstream })
    await until(
      'the sites have routes',
      async () => (await stead.visit(`idle-${sites - real - 1}.localhost`)).status === 200,
    )
    const day = new Day(stead, { realIds, minutes, share })
    const figures = await day.pass()
    return {
      title: 'A day of ten thousand sites',
      how:
        `A day takes ${minutes} minutes (${Math.round(1440 / minutes)} times its speed) with ${sites} sites. ${real} of them are real: WordPress with PHP, spread over the ranks. The others are rows, and a server of the benchmark creates their pages. ` +
        `For each site and day: ${A_DAY.visits} visits on average, ${A_DAY.reads} reads, ${A_DAY.edits} changes, and ${A_DAY.purges} purge through the API, and ${BACKUPS_A_DAY} backup of each real site. The n-th site gets visits in proportion to 1/n, and so do its five pages. Noon has nine times as many as midnight. ` +
        `Page views are summed up every five minutes of the day, and everything at its end. WordPress’s scheduled events follow the machine’s own clock. ${share === 1 ? '' : `Visits and calls are ${share} of that. `}Late responses do not slow the requests down.`,
      figures,
    }
  } finally {
    await stead.remove()
    await origin.stop()
  }
}

const PARTS = ['supervisor', 'control', 'host', 'edge'] as const

interface State {
  readonly due: number
  readonly oldest: number
  /** Seconds of processor time since the start, by part. Excludes what PHP used after the last reading. */
  readonly processor: Readonly<Record<string, number>>
}

class Day {
  readonly #stead: Stead
  readonly #plan: Omit<DayPlan, 'token'>
  readonly #realIds: readonly number[]
  /** Microseconds of each process at its last reading. */
  readonly #php = new Map<number, number>()

  constructor(stead: Stead, { realIds, ...times }: { realIds: readonly number[]; minutes: number; share: number }) {
    this.#stead = stead
    this.#realIds = realIds
    const { apiUrl, edgePort } = stead
    const siteIds = this.#select('select id from sites where deleted_at is null order by id').map(({ id }) =>
      Number(id),
    )
    this.#plan = { apiUrl, edgePort, siteIds, real: realIds.length, ...times }
  }

  async pass(): Promise<Figure[]> {
    const hours: Hour[] = []
    const before = this.#sizes()
    const states = [this.#state()]
    const told = (hour: Hour, at: number) => hourFigure(at, hour, states[at + 1] as State, states[at])
    const day = new AbortController()
    const besides = this.#besides(day.signal)
    await passDay({ ...this.#plan, token: await this.#stead.freshToken() }, (hour) => {
      hours.push(hour)
      states.push(this.#state())
      console.error(told(hour, hours.length - 1))
    })
    day.abort()
    await besides
    await this.#order(refreshStatistics)
    const ended = performance.now()
    await until('all that is due is done', async () => this.#due().count === 0, 600_000)
    const after = performance.now() - ended
    const sizes = this.#sizes()
    return [
      ...hours.flatMap((each, hour) => (hour % 4 === 3 ? [told(each, hour)] : [])),
      hourFigure('all day', together(hours), states.at(-1) as State, states[0]),
      { what: 'memory (Pss, MB): at first', value: before.memory },
      { what: '… at the end', value: sizes.memory },
      { what: 'files (MB): at first', value: before.files },
      { what: '… at the end', value: sizes.files },
      { what: 'most operations due at the end of an hour', value: String(Math.max(...states.map(({ due }) => due))) },
      {
        what: '… longest wait of one of them',
        value: `${Math.max(...states.map(({ oldest }) => oldest)).toFixed(1)} s`,
      },
      {
        what: 'until the queue was empty after the day, with the nightly page views',
        value: `${(after / 1000).toFixed(1)} s`,
      },
      {
        what: 'backups',
        value: this.#counts(
          "select kind || ' ' || state as state, count(*) as count from backups group by kind, state",
        ),
      },
      {
        what: 'operations of the day',
        value: this.#counts('select state, count(*) as count from operations group by state'),
      },
    ]
  }

  /** Backups, and the sums that are refreshed every five minutes of the day. */
  async #besides(signal: AbortSignal): Promise<void> {
    const msAnHour = (this.#plan.minutes * 60_000) / HOURS
    const began = performance.now()
    let backups = 0
    let sums = 0
    while (!signal.aborted) {
      await pause(100)
      const hour = (performance.now() - began) / msAnHour
      const wanted = Math.floor((hour / HOURS) * this.#realIds.length * BACKUPS_A_DAY)
      for (; backups < wanted; backups++) {
        const path = `/v1/sites/${this.#realIds[backups % this.#realIds.length]}/ondemand-backups`
        const { status } = await this.#stead.api('POST', path, { backup_type: backups % 2 ? 'fs' : 'db' })
        if (status !== 202) console.error(`backup ${backups}: ${status}`)
      }
      if (hour * 12 >= sums + 1) {
        sums = Math.floor(hour * 12)
        await this.#order(refreshOpenStatistics)
      }
    }
  }

  /** Starts what a schedule would start if its interval were as short as the day. */
  async #order(definition: typeof refreshOpenStatistics | typeof refreshStatistics): Promise<void> {
    const database = await openDatabase({ file: this.#file() })
    try {
      await database.transaction((tx) => enqueue(tx, definition as typeof refreshOpenStatistics, {}))
    } finally {
      await database.close()
    }
  }

  #pids(part: (typeof PARTS)[number]): number[] {
    if (part === 'supervisor') return [this.#stead.role(part)?.pid ?? 0]
    return this.#stead.processes().flatMap(({ pid, words }) => (words.includes(part) ? [pid] : []))
  }

  #state(): State {
    const sum = (part: (typeof PARTS)[number], of: (pid: number) => number) =>
      this.#pids(part).reduce((seconds, pid) => seconds + of(pid) / 1e6, 0)
    const own = Object.fromEntries(PARTS.map((part) => [part, sum(part, ownCpuOf)]))
    for (const { pid } of this.#stead.phpProcesses()) this.#php.set(pid, ownCpuOf(pid))
    const processor = { ...own, PHP: [...this.#php.values()].reduce((all, each) => all + each / 1e6, 0) }
    const { count, oldest } = this.#due()
    return { due: count, oldest, processor }
  }

  /** Takes seconds, because it reads each page of each process. */
  #sizes(): { readonly memory: string; readonly files: string } {
    const php = this.#stead.phpProcesses().map(({ pid }) => pid)
    const memory = [...PARTS.map((part) => [part, this.#pids(part)] as const), [`${php.length} PHP`, php] as const]
    const files = readdirSync(this.#stead.dataDir, { withFileTypes: true })
      .map((entry) => ({ name: entry.name, mb: sizeOf(join(this.#stead.dataDir, entry.name)) / 1e6 }))
      .filter(({ mb }) => mb >= 1)
      .sort((left, right) => right.mb - left.mb)
    return {
      memory: memory
        .map(([what, pids]) => `${what} ${Math.round(pids.reduce((sum, pid) => sum + pssOf(pid), 0))}`)
        .join(', '),
      files: files.map(({ name, mb }) => `${name} ${Math.round(mb)}`).join(', '),
    }
  }

  #due(): { count: number; oldest: number } {
    const [row] = this.#select(
      `select count(*) as count, min(run_at) as oldest from operations where finished_at is null and run_at <= ${Date.now()}`,
    )
    return { count: Number(row?.count), oldest: row?.oldest ? Math.max(0, Date.now() - Number(row.oldest)) / 1000 : 0 }
  }

  #counts(query: string): string {
    return this.#select(query)
      .map(({ state, count }) => `${state} ${count}`)
      .join(', ')
  }

  #file(): string {
    return join(this.#stead.dataDir, 'stead.db')
  }

  #select(query: string): Record<string, unknown>[] {
    const database = new DatabaseSync(this.#file(), { readOnly: true, timeout: 10_000 })
    try {
      return database.prepare(query).all()
    } finally {
      database.close()
    }
  }
}

function together(hours: readonly Hour[]): Hour {
  const failed = new Map<string, number>()
  for (const hour of hours) for (const [what, count] of hour.failed) failed.set(what, (failed.get(what) ?? 0) + count)
  const all = (kind: 'visits' | 'pages' | 'reads' | 'writes') => hours.flatMap((hour) => hour[kind])
  return {
    visits: all('visits'),
    pages: all('pages'),
    reads: all('reads'),
    writes: all('writes'),
    failed,
    unsent: hours.reduce((sum, { unsent }) => sum + unsent, 0),
    heldMs: Math.max(...hours.map(({ heldMs }) => heldMs)),
  }
}

const hourFigure = (
  hour: number | string,
  { visits, pages, reads, writes, failed, unsent, heldMs }: Hour,
  { due, processor }: State,
  before?: State,
): Figure => ({
  what: typeof hour === 'number' ? `hour ${hour + 1}` : hour,
  value: [
    times('visits', visits),
    times('of real sites', pages),
    times('API reads', reads),
    times('API changes', writes),
    `failed ${[...failed].map(([what, count]) => `${count} (${what})`).join(', ') || 0}, not sent ${unsent}, due ${due}, visitors held up ${heldMs.toFixed(0)} ms`,
    `processor ${Object.entries(processor)
      .map(([part, seconds]) => `${part} ${(seconds - (before?.processor[part] ?? 0)).toFixed(1)}`)
      .join(', ')} s`,
  ].join('; '),
})

const times = (what: string, values: readonly number[]): string =>
  values.length === 0
    ? `${what} none`
    : `${what} ${values.length}: p50 ${percentile(values, 0.5).toFixed(0)}, p99 ${percentile(values, 0.99).toFixed(0)} ms`

function pssOf(pid: number): number {
  try {
    return memoryMb(pid).pss
  } catch {
    // The process has ended meanwhile.
    return 0
  }
}

function sizeOf(path: string): number {
  try {
    const stats = statSync(path)
    if (!stats.isDirectory()) return stats.blocks * 512
    return readdirSync(path, { recursive: true }).reduce((sum, name) => sum + blocksOf(join(path, String(name))), 0)
  } catch {
    return 0
  }
}

function blocksOf(path: string): number {
  try {
    return statSync(path).blocks * 512
  } catch {
    return 0
  }
}
