import { severityFacet } from '../../hosting/php-log/php-records.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import type { LogRecord, LogStore } from '../../platform/log-store/log-store.ts'
import { noteFault, type SiteFaultKind } from '../../resources/alerts/faults.store.ts'
import type { ProcessContext } from '../process-context.ts'

/** How many faults within how long are a rate that a person must know of. */
const rates = {
  php_errors: { count: 10, withinMs: 10 * MINUTE_MS },
  mail_bouncing: { count: 5, withinMs: 60 * MINUTE_MS },
} as const satisfies Record<SiteFaultKind, { count: number; withinMs: number }>

/** A site with many faults is written down at most this often. */
const NOTE_EVERY_MS = MINUTE_MS

/** Errors that end a request. */
const fatal = new Set((['Fatal error', 'Parse error', 'Recoverable fatal error'] as const).map(severityFacet))

interface Window {
  /** Times of the newest faults, the oldest first: as many as the rate needs. */
  readonly times: number[]
  notedAt: number
}

/** Counts faults of the sites of a host, and writes down sites with a rate that is too high. */
export class SiteFaults {
  readonly #context: Pick<ProcessContext, 'database' | 'log'>
  readonly #now: () => number
  readonly #windows = new Map<string, Window>()

  constructor(context: Pick<ProcessContext, 'database' | 'log'>, now: () => number = Date.now) {
    this.#context = context
    this.#now = now
  }

  /** Returns a log store that also counts PHP's fatal errors among what is appended to it. */
  counting(logs: Pick<LogStore, 'append'>): Pick<LogStore, 'append'> {
    return {
      append: async (kind, records) => {
        await logs.append(kind, records)
        if (kind === 'php') await this.#countErrors(records)
      },
    }
  }

  async #countErrors(records: readonly LogRecord[]): Promise<void> {
    const errors = records.filter(({ facet }) => fatal.has(facet))
    for (const [siteId, some] of Map.groupBy(errors, (record) => record.siteId))
      await this.count('php_errors', siteId, some.length, `The last error: ${messageOf(some.at(-1))}`)
  }

  /** Counts faults of a site. Never throws: an alert must not stop what it is about. */
  async count(kind: SiteFaultKind, siteId: number, faults: number, detail: string): Promise<void> {
    const now = this.#now()
    const { count, withinMs } = rates[kind]
    const key = `${kind} ${siteId}`
    const window = this.#windows.get(key) ?? { times: [], notedAt: Number.NEGATIVE_INFINITY }
    this.#windows.set(key, window)
    for (let fault = 0; fault < Math.min(faults, count); fault++) window.times.push(now)
    window.times.splice(0, window.times.length - count)
    const isOver = window.times.length >= count && (window.times[0] as number) > now - withinMs
    if (!isOver || Math.abs(now - window.notedAt) < NOTE_EVERY_MS) return
    window.notedAt = now
    const { database, log } = this.#context
    await database
      .transaction((tx) => noteFault(tx, { kind, siteId, detail, now }))
      .catch((error) => log.warn({ err: error, siteId }, 'could not note the faults of a site'))
    this.#forget(now)
  }

  /** Forgets sites without faults of late, so that the memory depends on those with faults only. */
  #forget(now: number): void {
    for (const [key, { times }] of this.#windows)
      if (Math.abs(now - (times.at(-1) ?? 0)) > rates.mail_bouncing.withinMs) this.#windows.delete(key)
  }
}

/** Returns the beginning of a stored message. */
function messageOf(record: LogRecord | undefined): string {
  const [message = ''] = JSON.parse(record?.body ?? '[]') as string[]
  return message.split('\n')[0]?.slice(0, 200) ?? ''
}
