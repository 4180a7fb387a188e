import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { AccessEntry } from '../src/edge/records/access-log.ts'
import { accessEntryOf, accessFacets, accessRecord } from '../src/edge/records/access-records.ts'
import { DAY_MS } from '../src/platform/durations.ts'
import { createLogBuffer } from '../src/platform/log-store/log-buffer.ts'
import { createLogIds } from '../src/platform/log-store/log-ids.ts'
import type { LogQuery, LogRecord } from '../src/platform/log-store/log-store.ts'
import { openLogStore } from '../src/platform/log-store/open-log-store.ts'
import { budgetOf } from '../test/support/budget.ts'
import { type Figure, median, percentile, type Section } from './support/report.ts'

/** `STEAD_BENCH_LOG_ENTRIES` sets a smaller number. `STEAD_BENCH_POSTGRES_URL` uses a server instead of files. */
const ENTRIES = Number(process.env.STEAD_BENCH_LOG_ENTRIES ?? 10_000_000)
const url = process.env.STEAD_BENCH_POSTGRES_URL
const DAYS = 7
const SITES = 1000
/** The first has half of all entries. */
const BUSY_SITE = 1
const BATCH = 5000

const agents = Array.from(
  { length: 400 },
  (_, n) =>
    `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${100 + n}.0.0.0 Safari/537.36`,
)

/** Returns entry `n`. Most are GET with 200. One in 100,000 is a 500, one in 200,000 a DELETE, and addresses vary. */
function entry(n: number, atMs: number): AccessEntry & { siteId: number } {
  const random = (n * 2654435761) % 2 ** 32
  return {
    siteId: n % 2 === 0 ? BUSY_SITE : 2 + (random % (SITES - 1)),
    body_bytes_sent: random % 50_000,
    cached: n % 3 === 0 ? 'HIT' : '',
    date: new Date(atMs).toISOString(),
    http2: '',
    http_host: 'www.example.com',
    http_referer: n % 4 === 0 ? 'https://www.example.com/category/news/' : '',
    http_user_agent: agents[random % agents.length] as string,
    http_version: 'HTTP/1.1',
    http_x_forwarded_for: '',
    renderer: 'php',
    request_completion: 'OK',
    request_time: 0.012,
    request_type: n % 200_000 === 100_000 ? 'DELETE' : n % 20 === 0 ? 'POST' : 'GET',
    request_url: `/2026/11/${random % 100_000}/a-title-of-a-page/?utm_source=${random % 100}`,
    scheme: 'https',
    status: n % 100_000 === 50_000 ? 500 : n % 10 === 0 ? 404 : n % 7 === 0 ? 301 : 200,
    timestamp: Math.floor(atMs / 1000),
    type: 'access',
    user_ip: `10.${random % 40}.${(random >> 8) % 256}.${(random >> 16) % 256}`,
  }
}

/** Log store: how long a page takes with ten million entries, and the cost of writing. */
export async function logsBench(): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-bench-logs-'))
  const store = openLogStore({ url, folder, mostBytes: 2 ** 45 })
  try {
    const nextId = createLogIds()
    const startMs = Date.now() - (DAYS - 0.5) * DAY_MS
    const filled = performance.now()
    for (let at = 0; at < ENTRIES; at += BATCH) {
      const batch: LogRecord[] = []
      for (let n = at; n < Math.min(at + BATCH, ENTRIES); n++)
        batch.push(accessRecord(entry(n, Math.floor(startMs + (n / ENTRIES) * (DAYS - 0.5) * DAY_MS)), nextId()))
      await store.append('server', batch)
      if (at % 1_000_000 === 0) console.error(`${at} entries, ${Math.round((performance.now() - filled) / 1000)} s`)
    }
    const rate = ENTRIES / ((performance.now() - filled) / 1000)
    const figures: Figure[] = [{ what: 'entries stored, in order, batches of 5,000', value: `${Math.round(rate)}/s` }]
    if (!url) {
      const { stdout } = await promisify(execFile)('du', ['-sm', folder])
      figures.push({ what: 'room on the disk', value: `${stdout.split('\t')[0]} MB` })
    }
    figures.push(...(await pages(store.page)), await writing(store))
    return {
      title: 'Logs',
      how: `${ENTRIES.toLocaleString('en')} web server log entries of 7 days and ${SITES} sites, half of them of one site, in ${url ? 'PostgreSQL' : 'SQLite'}. A page has 200 entries of that site, and each is requested 20 times.`,
      figures,
    }
  } finally {
    await store.close()
    await rm(folder, { recursive: true })
  }
}

const asked: Record<string, Partial<LogQuery>> = {
  'newest page': {},
  'page in the middle of the log': { before: { atMs: Date.now() - 3 * DAY_MS, id: 0 } },
  'status 404 (10 %)': { facets: accessFacets([404], undefined) },
  'status 500 (1 in 100,000)': { facets: accessFacets([500], undefined) },
  'status 503 (none)': { facets: accessFacets([503], undefined) },
  'all error statuses, 400 to 599': {
    facets: accessFacets(
      Array.from({ length: 200 }, (_, n) => 400 + n),
      undefined,
    ),
  },
  'DELETE (1 in 200,000)': { facets: accessFacets(undefined, 'DELETE') },
  '404 and POST': { facets: accessFacets([404], 'POST') },
  'one address (a few entries)': { key: entry(50_000, 0).user_ip },
  'one address, status 500': { key: entry(50_000, 0).user_ip, facets: accessFacets([500], undefined) },
}

async function pages(page: (query: LogQuery) => Promise<LogRecord[]>): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [what, change] of Object.entries(asked)) {
    const times: number[] = []
    let found = 0
    for (let turn = 0; turn < 20; turn++) {
      const began = performance.now()
      const records = await page({
        kind: 'server',
        siteId: BUSY_SITE,
        before: { atMs: Date.now() + DAY_MS, id: 0 },
        sinceMs: Date.now() - DAYS * DAY_MS,
        limit: 200,
        ...change,
      })
      found = records.map(accessEntryOf).length
      times.push(performance.now() - began)
    }
    const value = `median ${median(times).toFixed(1)} ms, worst ${percentile(times, 1).toFixed(1)} ms (${found} entries)`
    figures.push({ what: `page: ${what}`, value, aim: 'well under 100 ms' })
  }
  return figures
}

/** The cost of an entry in the process that serves requests: creating the record and passing it on. */
async function writing(store: { append: Parameters<typeof createLogBuffer>[0]['store']['append'] }): Promise<Figure> {
  const buffer = createLogBuffer({ store, kind: 'server', log: console, budget: budgetOf(32 << 20, 8 << 20) })
  const nextId = createLogIds()
  const count = 50_000
  const entries = Array.from({ length: count }, (_, n) => entry(n, Date.now()))
  const before = process.threadCpuUsage()
  for (let at = 0; at < count; at += 50) {
    for (const each of entries.slice(at, at + 50)) buffer.add(accessRecord(each, nextId()))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await buffer.close()
  const { user, system } = process.threadCpuUsage(before)
  return {
    what: 'at about 8,000 entries/s: CPU of the thread that serves requests',
    value: `${((user + system) / count).toFixed(1)} µs an entry`,
  }
}
