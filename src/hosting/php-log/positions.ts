import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** The position up to which a site's log has been read. */
export interface LogPlace {
  /** Identifies the file. */
  readonly inode: number
  readonly offset: number
  /** Whether the position is inside an entry that was given up. */
  readonly inside: boolean
}

/** The positions of all sites of a host, in memory and in a file. A killed process loses none that was saved. */
export interface LogPlaces {
  get(siteId: number): LogPlace | undefined
  save(changes: ReadonlyMap<number, LogPlace | undefined>): void
  close(): void
}

/** @param file created when it is missing; belongs to one process */
export function openPlaces(file: string): LogPlaces {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  const database = new DatabaseSync(file)
  database.exec('pragma journal_mode = wal; pragma synchronous = normal')
  database.exec(
    'create table if not exists places (site_id integer primary key, inode integer, "offset" integer, inside integer) strict',
  )
  const rows = database.prepare('select * from places').all() as unknown as (Omit<LogPlace, 'inside'> & {
    site_id: number
    inside: number
  })[]
  const known = new Map(
    rows.map(({ site_id, inode, offset, inside }) => [site_id, { inode, offset, inside: inside === 1 }]),
  )
  const put = database.prepare('insert or replace into places values (?, ?, ?, ?)')
  const forget = database.prepare('delete from places where site_id = ?')
  return {
    get: (siteId) => known.get(siteId),
    save(changes) {
      if (changes.size === 0) return
      database.exec('begin')
      for (const [siteId, place] of changes) {
        if (place) put.run(siteId, place.inode, place.offset, place.inside ? 1 : 0)
        else forget.run(siteId)
      }
      database.exec('commit')
      for (const [siteId, place] of changes) {
        if (place) known.set(siteId, place)
        else known.delete(siteId)
      }
    },
    close: () => database.close(),
  }
}
