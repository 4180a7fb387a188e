import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import pg from 'pg'
import { openSqlite } from './node-sqlite.ts'

/** What can have changed. On SQLite every commit announces every topic, because its log does not say which. */
export type Topic = 'operations' | 'routes' | 'tokens' | 'purges'

/** Tells, soon after a commit of any process, that something of a topic may have changed. Losing one is allowed to delay
 *  work, never to lose it: every listener also looks by itself from time to time. */
export interface ChangeFeed {
  /** @returns a function that ends the subscription. */
  subscribe(topic: Topic, listener: () => void): () => void
  /**
   * A number that stays the same as long as nothing of the topic has changed: on SQLite for certain, on PostgreSQL as far
   * as its notices have arrived (they are sent with the commit). `undefined` while notices cannot arrive.
   */
  version(topic: Topic): number | undefined
  close(): Promise<void> | void
}

interface Listeners {
  add: ChangeFeed['subscribe']
  tell(topic?: Topic): void
}

function listeners(): Listeners {
  const all = new Set<{ topic: Topic; listener: () => void }>()
  return {
    add(topic, listener) {
      const entry = { topic, listener }
      all.add(entry)
      return () => all.delete(entry)
    },
    tell(topic) {
      for (const entry of all) if (!topic || entry.topic === topic) entry.listener()
    },
  }
}

/** How often a lost notice is looked for. */
const LOOK_EVERY_MS = 250

export interface SqliteChanges extends ChangeFeed {
  /** This process has committed: the version has to be read anew. */
  committed(): void
}

export function sqliteChanges(file: string): SqliteChanges {
  const { add, tell } = listeners()
  const database = openSqlite({ file, readOnly: true })
  const dataVersion = database.prepare('pragma data_version')
  // Read once in a turn of the event loop: what arrives after a commit of another process is handled in a later turn.
  let read: number | undefined
  const version = () => {
    if (read === undefined) {
      read = (dataVersion.get() as { data_version: number }).data_version
      setImmediate(() => {
        read = undefined
      })
    }
    return read
  }
  let seen = version()
  let pending: NodeJS.Timeout | undefined
  const look = () => {
    // the other timer got here first: this one must not go off after the end, when nobody holds it any more
    clearTimeout(pending)
    pending = undefined
    const now = version()
    if (now === seen) return
    seen = now
    tell()
  }
  // the log is written by every commit; one look for a burst of writes
  const soon = () => {
    pending ??= setTimeout(look, 2)
  }
  let watcher: FSWatcher | undefined
  try {
    const log = `${basename(file)}-wal`
    watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
      if (name === log) soon()
    })
    watcher.on('error', () => watcher?.close())
  } catch {
    // no inotify left: the timer below is enough, only slower
  }
  const timer = setInterval(look, LOOK_EVERY_MS)
  timer.unref()
  return {
    subscribe: add,
    version,
    committed() {
      read = undefined
    },
    close() {
      watcher?.close()
      clearInterval(timer)
      clearTimeout(pending)
      database.close()
    },
  }
}

export async function postgresChanges(url: string): Promise<ChangeFeed> {
  const { add, tell } = listeners()
  const versions: Record<Topic, number> = { operations: 0, routes: 0, tokens: 0, purges: 0 }
  let client: pg.Client | undefined
  let closed = false
  let retry: NodeJS.Timeout | undefined

  const lost = () => {
    client = undefined
    clearTimeout(retry)
    if (!closed) retry = setTimeout(() => listen().catch(lost), 1000)
  }
  const listen = async () => {
    const next = new pg.Client({ connectionString: url, application_name: 'stead changes', keepAlive: true })
    next.on('error', () => {})
    next.on('notification', ({ payload }) => {
      const topic = payload as Topic
      versions[topic]++
      tell(topic)
    })
    await next.connect()
    await next.query('listen stead')
    next.on('end', lost)
    client = next
    // whatever was announced while nobody listened
    for (const topic of Object.keys(versions) as Topic[]) versions[topic]++
    tell()
  }
  await listen()
  return {
    subscribe: add,
    version: (topic) => (client ? versions[topic] : undefined),
    async close() {
      closed = true
      clearTimeout(retry)
      await client?.end()
    },
  }
}
