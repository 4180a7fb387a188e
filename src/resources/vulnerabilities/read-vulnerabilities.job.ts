import { createReadStream } from 'node:fs'
import Type from 'typebox'
import type { Config } from '../../config.ts'
import type { Database } from '../../platform/db/database.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { fetchPublic } from '../../platform/fetch/fetch-public.ts'
import { durableWith, PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import { BATCH, inBatches } from '../../platform/operations/in-batches.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { type FoundVulnerability, vulnerabilitiesIn } from './feed.ts'
import { feedMembers } from './feed-members.ts'
import { forgetVulnerabilities, storeVulnerabilities } from './vulnerability.store.ts'

const EVERY_MS = 720 * MINUTE_MS
/** The feed of Wordfence has about 100 MB. */
const MOST_BYTES = 512 << 20
const MOST_BYTES_EACH = 1 << 20
const MOST_ROWS = 300_000
/** Rows of one transaction. SQLite accepts 32,766 parameters. */
const ROWS_AT_ONCE = 200
const WHOLE_FETCH_MS = 30 * MINUTE_MS

type Context = StepContext<object, { readonly database: Database; readonly config: Config }, { read: { at: number } }>

/** Reads the feed of known vulnerabilities. Without a feed, forgets what an earlier one had. */
export const readVulnerabilities = durableWith<{ readonly database: Database; readonly config: Config }>()({
  name: 'vulnerabilities.read',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 4,
  backoff: { firstMs: 5 * MINUTE_MS, mostMs: 60 * MINUTE_MS },
  steps: {
    read: { run: read },
    forget: {
      run: (context: Context) => inBatches(context, (tx) => forgetVulnerabilities(tx, context.results.read.at, BATCH)),
    },
  },
})

export const readVulnerabilitiesTwiceADay = schedule({
  name: 'vulnerabilities.read',
  everyMs: EVERY_MS,
  definition: readVulnerabilities,
  input: () => ({}),
})

/**
 * Stores what the feed has.
 * @returns the time that the rows have. Those with an earlier one are no longer in the feed
 * @throws PermanentFailure if the feed is empty, because it never is
 */
async function read({ services, transaction, signal, now, log }: Omit<Context, 'results'>): Promise<{ at: number }> {
  const { vulnerabilityFeed: feed } = services.config
  const at = now()
  if (!feed) return { at }
  let count = 0
  const keep = async (rows: readonly FoundVulnerability[]) => {
    count += rows.length
    if (count > MOST_ROWS) throw new PermanentFailure(`The feed has more than ${MOST_ROWS} vulnerabilities`)
    await transaction((tx) => storeVulnerabilities(tx, rows, at))
  }
  await openFeed(feed, signal, async (bytes) => {
    let rows: FoundVulnerability[] = []
    for await (const [, member] of feedMembers(bytes, MOST_BYTES_EACH)) {
      signal.throwIfAborted()
      rows.push(...vulnerabilitiesIn(member))
      if (rows.length < ROWS_AT_ONCE) continue
      await keep(rows)
      rows = []
    }
    await keep(rows)
  })
  if (count === 0) throw new PermanentFailure('The feed has no vulnerability in the documented form')
  log.info({ count }, 'read the feed of vulnerabilities')
  return { at }
}

/** The operator chose the address, so it may be a private one. */
async function openFeed(feed: string, signal: AbortSignal, use: (bytes: AsyncIterable<Buffer>) => Promise<void>) {
  if (!/^https?:/i.test(feed)) return use(createReadStream(feed, { signal }))
  const options = { allowPrivate: true, maxBytes: MOST_BYTES, timeoutMs: WHOLE_FETCH_MS, signal }
  return fetchPublic(feed, options, ({ body }) => use(body))
}
