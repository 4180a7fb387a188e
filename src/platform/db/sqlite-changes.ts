import type { DatabaseSync } from 'node:sqlite'
import { type ChangeFeed, createListeners, type Topic } from './changes.ts'
import { openNotifications } from './notifications.ts'

/** The polling interval for missed notifications. */
const LOOK_EVERY_MS = 250

export interface SqliteChanges extends ChangeFeed {
  /** Reports that this process has committed: the version must be read again, and the other processes are notified. */
  committed(topics: ReadonlySet<Topic>): void
}

/**
 * Creates the change feed of an SQLite database.
 * @param reader a connection that never commits: the one for reads, because a caller that checks the version reads
 * next, and a connection looks up changes only once after a commit
 */
export function sqliteChanges(file: string, reader: DatabaseSync): SqliteChanges {
  const { add, tell } = createListeners()
  const notices = openNotifications(`${file}-notices`)
  const dataVersion = reader.prepare('pragma data_version')
  // The version is read once per turn of the event loop. Requests after a commit of another process are handled in a
  // later turn.
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
  const timer = setInterval(() => {
    const now = version()
    if (now === seen) return
    seen = now
    tell()
  }, LOOK_EVERY_MS)
  timer.unref()
  return {
    subscribe(topic, listener) {
      notices.follow(topic, () => tell(topic))
      return add(topic, listener)
    },
    version,
    committed(topics) {
      read = undefined
      // Changes to operations are not announced each time.
      notices.write('operations')
      for (const topic of topics) if (topic !== 'operations') notices.write(topic)
    },
    close() {
      clearInterval(timer)
      notices.close()
    },
  }
}
