import type { DatabaseSync } from 'node:sqlite'
import { type ChangeFeed, listeners, type Topic } from './changes.ts'
import { openNotifications } from './notifications.ts'

/** How often a lost notice is looked for. */
const LOOK_EVERY_MS = 250

export interface SqliteChanges extends ChangeFeed {
  /** This process has committed: the version has to be read anew, and the others learn of it. */
  committed(topics: ReadonlySet<Topic>): void
}

/**
 * @param reader a connection that never commits. The one that reads: who asks for the version reads next, and what a connection must look up
 * after a commit, it looks up once
 */
export function sqliteChanges(file: string, reader: DatabaseSync): SqliteChanges {
  const { add, tell } = listeners()
  const notices = openNotifications(`${file}-notices`)
  const dataVersion = reader.prepare('pragma data_version')
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
      // what operations are at is not announced each time
      notices.write('operations')
      for (const topic of topics) if (topic !== 'operations') notices.write(topic)
    },
    close() {
      clearInterval(timer)
      notices.close()
    },
  }
}
