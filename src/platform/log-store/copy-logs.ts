import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { LogKind, LogRecord, LogStore } from './log-store.ts'

/** How many entries are in memory at a time. */
const BATCH = 1000

const FILE = /^(server|php)-\d{4}-\d\d-\d\d\.db$/

/**
 * Copies the log files of a folder to another store, the newest day first. Existing entries stay unchanged, so that a
 * copy can be repeated. Entries that are too old are left out. Entries that had been dropped over a site's share are
 * not counted again.
 * @returns how many entries it read
 */
export async function copyLogs(folder: string, to: LogStore, onEntries: (done: number) => void): Promise<number> {
  const files = (await readdir(folder).catch(() => [])).filter((name) => FILE.test(name))
  const newestFirst = files.toSorted((a, b) => (a.slice(-13) < b.slice(-13) ? 1 : -1))
  let done = 0
  for (const name of newestFirst)
    for (const batch of batches(join(folder, name))) {
      await to.append(FILE.exec(name)?.[1] as LogKind, batch)
      done += batch.length
      onEntries(done)
    }
  return done
}

function* batches(file: string): Generator<LogRecord[]> {
  const database = new DatabaseSync(file)
  try {
    const rows = database.prepare('select site_id as siteId, at as atMs, id, facet, key, body from entries').iterate()
    let batch: LogRecord[] = []
    for (const row of rows) {
      batch.push(row as unknown as LogRecord)
      if (batch.length < BATCH) continue
      yield batch
      batch = []
    }
    if (batch.length > 0) yield batch
  } finally {
    database.close()
  }
}
