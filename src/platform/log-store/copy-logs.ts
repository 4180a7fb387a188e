import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { LogKind, LogRecord, LogStore } from './log-store.ts'

/** Entries that are in memory at a time. */
const BATCH = 1000

const FILE = /^(server|php)-\d{4}-\d\d-\d\d\.db$/

/**
 * Copies what log files of a folder hold into another store, the newest day first. What is there already stays as it is, so that it may be done
 * again; what is too old is left out. Entries that a site's share had no room for are not counted anew.
 * @returns how many were read
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
