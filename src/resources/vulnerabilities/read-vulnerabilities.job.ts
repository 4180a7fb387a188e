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
import { findFeed, forgetVulnerabilities, noteFeed, storeVulnerabilities } from './vulnerability.store.ts'

/** How often it looks whether the feed is due, so that a new one is read soon. */
const LOOK_EVERY_MS = 10 * MINUTE_MS
const EVERY_MS = 720 * MINUTE_MS
const AFTER_FAULT_MS = 60 * MINUTE_MS
/** The feed of Wordfence has about 100 MB. */
const MOST_BYTES = 512 << 20
const MOST_BYTES_EACH = 1 << 20
const MOST_ROWS = 300_000
/** Rows of one transaction. SQLite accepts 32,766 parameters. */
const ROWS_AT_ONCE = 200
const WHOLE_FETCH_MS = 30 * MINUTE_MS

interface Services {
  readonly database: Database
  readonly config: Config
}
type Context<Results = unknown> = StepContext<object, Services, Results>

/** Reads the feed of known vulnerabilities when it is due. Without a feed, forgets what an earlier one had. */
export const readVulnerabilities = durableWith<Services>()({
  name: 'vulnerabilities.read',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 1,
  steps: {
    read: { run: read },
    forget: {
      async run(context: Context<{ read: { at: number | null } }>) {
        const { at } = context.results.read
        if (at !== null) await inBatches(context, (tx) => forgetVulnerabilities(tx, at, BATCH))
      },
    },
  },
})

export const readVulnerabilitiesWhenDue = schedule({
  name: 'vulnerabilities.read',
  everyMs: LOOK_EVERY_MS,
  definition: readVulnerabilities,
  input: () => ({}),
})

/** @returns the time that the rows have, or null if the feed is not due. Older rows are no longer in the feed */
async function read(context: Context): Promise<{ at: number | null }> {
  const { services, transaction, now } = context
  const { vulnerabilityFeed: feed } = services.config
  const at = now()
  if (!feed) {
    await transaction((tx) => tx.deleteFrom('vulnerability_feeds').execute())
    return { at }
  }
  const known = await findFeed(services.database.read, feed)
  if (known && at < known.tried_at + (known.fault === null ? EVERY_MS : AFTER_FAULT_MS)) return { at: null }
  try {
    await store(context, feed, at)
  } catch (error) {
    const fault = (error as Error).message
    if (!context.signal.aborted) await transaction((tx) => noteFeed(tx, { address: feed, tried_at: at, fault }))
    throw error
  }
  await transaction((tx) => noteFeed(tx, { address: feed, tried_at: at, fault: null }))
  return { at }
}

/** Stores what the feed has. @throws PermanentFailure if the feed is empty, because it never is */
async function store({ transaction, signal, log }: Context, feed: string, at: number): Promise<void> {
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
}

/** The operator chose the address, so it may be a private one. */
async function openFeed(feed: string, signal: AbortSignal, use: (bytes: AsyncIterable<Buffer>) => Promise<void>) {
  if (!/^https?:/i.test(feed)) return use(createReadStream(feed, { signal }))
  const options = { allowPrivate: true, maxBytes: MOST_BYTES, timeoutMs: WHOLE_FETCH_MS, signal }
  return fetchPublic(feed, options, ({ body }) => use(body))
}
