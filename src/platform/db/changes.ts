import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import pg from 'pg'
import { openSqlite } from './node-sqlite.ts'

/** What can have changed. On SQLite every commit announces every topic, because its log does not say which. */
export type Topic = 'operations' | 'routes' | 'tokens' | 'purges' | 'sftp' | 'zones' | 'events'

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

/** Between looks after the log was written. The first serves a whole burst of writes. */
const LOOK_AFTER_MS = [2, 3, 5, 10, 20, 40, 80]

/**
 * The log is written before the commit is there: readers see it once the disk has the log, and nothing announces that. With one look
 * after 2 ms four edges learned of a purge after 124 ms (median of the last to know), which is the timer’s doing; with these after 3.
 * @param look @returns whether there was something
 */
export function looksAfterWrites(look: () => boolean): { written(): void; now(): void; close(): void } {
  let pending: NodeJS.Timeout | undefined
  let step = 0
  const next = () => {
    pending = setTimeout(again, LOOK_AFTER_MS[step++])
  }
  const again = () => {
    pending = undefined
    if (!look() && step < LOOK_AFTER_MS.length) next()
  }
  const close = () => {
    clearTimeout(pending)
    pending = undefined
  }
  return {
    written() {
      // the first look is not put off, however much is written
      if (pending && step === 1) return
      close()
      step = 0
      next()
    },
    now() {
      // what was seen here is not looked for again
      if (look()) close()
    },
    close,
  }
}

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
  const look = () => {
    const now = version()
    if (now === seen) return false
    seen = now
    tell()
    return true
  }
  const looks = looksAfterWrites(look)
  let watcher: FSWatcher | undefined
  try {
    const log = `${basename(file)}-wal`
    watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
      if (name === log) looks.written()
    })
    watcher.on('error', () => watcher?.close())
  } catch {
    // no inotify left: the timer below is enough, only slower
  }
  const timer = setInterval(looks.now, LOOK_EVERY_MS)
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
      looks.close()
      database.close()
    },
  }
}

export async function postgresChanges(url: string): Promise<ChangeFeed> {
  const { add, tell } = listeners()
  const versions: Record<Topic, number> = {
    operations: 0,
    routes: 0,
    tokens: 0,
    purges: 0,
    sftp: 0,
    zones: 0,
    events: 0,
  }
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
