import { chmodSync, closeSync, openSync, rmSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Log } from '../../platform/log/log.ts'
import { isWildcard } from '../../platform/wildcard-name.ts'
import type { KeptCertificate } from '../tls/tls.store.ts'
import type { Route } from './route.ts'
import type { RouteChangesSince } from './routes.ts'

/** Files of other formats are replaced. */
const FORMAT = 1
const MOST_ROUTES = 50_000
/** Visitors can invent names below a wildcard. */
const MOST_BELOW_WILDCARD = 100
const PURPOSE = 'known route'

export interface KnownRoutesOptions {
  readonly file: string
  readonly sealer: Sealer
  readonly log: Log
  readonly mostRoutes?: number
}

/**
 * The routes and certificates of an edge on its disk, for names that visitors have used. It serves them while the
 * database is away. All processes of the edge use the file, and one of them keeps it up to date: see `followRoutes`.
 * Nothing here throws: without the file, an edge only knows less.
 *
 * Writes do not wait for the disk. After a power failure, rows whose mark does not match are ignored.
 */
export class KnownRoutes {
  readonly #options: KnownRoutesOptions
  #database: DatabaseSync | undefined
  readonly #statements = new Map<string, StatementSync>()

  constructor(options: KnownRoutesOptions) {
    this.#options = options
    const { file, log } = options
    try {
      this.#database = open(file)
    } catch (error) {
      log.warn({ err: error, file }, 'replaced a file for starts without the database')
      this.#discard()
    }
    try {
      this.#database ??= open(file)
    } catch (error) {
      log.warn({ err: error, file }, 'could not keep routes for starts without the database')
    }
  }

  /** Returns the route of a name as it was known last. */
  find(hostName: string): Route | undefined {
    return this.#try(undefined, () => {
      const row = this.#get('select route, mark from routes where host_name = ?', hostName)
      const route = this.#opened<Route>(`route ${hostName}`, row?.route, row?.mark)
      const host = route && this.#get('select address, mark from hosts where host_id = ?', route.hostId)
      const address = route && this.#opened<string>(`host ${route.hostId}`, host?.address, host?.mark)
      return route && { ...route, upstream: address ?? route.upstream }
    })
  }

  /** Returns the certificate that is stored under a name. Its key is sealed. */
  certificate(hostName: string): KeptCertificate | undefined {
    return this.#try(undefined, () => {
      const row = this.#get('select certificate, mark from certificates where host_name = ?', hostName)
      return this.#opened<KeptCertificate>(`certificate ${hostName}`, row?.certificate, row?.mark)
    })
  }

  /** Returns whether a route is known. */
  get hasRoutes(): boolean {
    return this.#try(false, () => this.#get('select 1 from routes limit 1') !== undefined)
  }

  /**
   * Remembers a name that a visitor has used, with its route as it was read. The process that follows the routes reads
   * it again, because it may have changed since.
   */
  want(route: Route): void {
    const { mostRoutes = MOST_ROUTES } = this.#options
    const { hostName, listedAs = hostName } = route
    const mostBelow = listedAs === hostName ? mostRoutes : MOST_BELOW_WILDCARD
    this.#try(undefined, () => {
      if (this.#get('select 1 from routes where host_name = ?', hostName)) return
      const text = JSON.stringify(route)
      this.#run(
        `insert or ignore into routes (host_name, listed_as, route, mark, outdated) select ?, ?, ?, ?, 1
         where (select count(*) from routes where listed_as = ?) < ? and (select count(*) from routes) < ?`,
        ...[hostName, listedAs, text, this.#mark(`route ${hostName}`, text), listedAs, mostBelow, mostRoutes],
      )
    })
  }

  /** Stores a certificate that was read from the database. */
  keepCertificate(hostName: string, certificate: KeptCertificate | undefined): void {
    this.#try(undefined, () => {
      if (!certificate) return this.#run('delete from certificates where host_name = ?', hostName)
      const text = JSON.stringify(certificate)
      const values = [hostName, text, this.#mark(`certificate ${hostName}`, text), certificate.issuedAt]
      return this.#run(
        `insert into certificates (host_name, certificate, mark, issued_at) values (?, ?, ?, ?)
         on conflict (host_name) do update set certificate = excluded.certificate, mark = excluded.mark,
           issued_at = excluded.issued_at
         where excluded.issued_at > certificates.issued_at`,
        ...values,
      )
    })
  }

  /** Returns the number of the newest change that {@link apply} has seen. */
  get position(): number | undefined {
    return this.#try(undefined, () => this.#get('select seq from position')?.seq as number | undefined)
  }

  /** Marks what the changes since {@link position} concern as outdated, or everything if some are missing. */
  apply({ newest, changes }: RouteChangesSince): void {
    const { position } = this
    const isWhole = newest === position || (changes[0]?.seq === (position ?? 0) + 1 && changes.at(-1)?.seq === newest)
    this.#bringUpToDate(() => {
      if (position === undefined || !isWhole) this.#run('update routes set outdated = 1')
      else
        for (const change of changes)
          if (!('hostName' in change)) this.#keepHost(change.hostId, change.upstream)
          else if (isWildcard(change.hostName))
            this.#run('update routes set outdated = 1 where listed_as = ?', change.hostName)
          else this.#run('update routes set outdated = 1 where host_name = ?', change.hostName)
      this.#run('delete from position')
      this.#run('insert into position (seq) values (?)', newest)
    })
  }

  /** Returns names whose routes must be read again. */
  outdated(most: number): string[] {
    return this.#try([], () =>
      this.#prepared('select host_name from routes where outdated = 1 limit ?')
        .all(most)
        .map((row) => row.host_name as string),
    )
  }

  /** Stores the current route of a name, or that no site has it. */
  put(hostName: string, route: Route | undefined): void {
    this.#bringUpToDate(() => {
      if (!route) {
        this.#run('delete from routes where host_name = ?', hostName)
        this.#run('delete from certificates where host_name = ?', hostName)
        return
      }
      const text = JSON.stringify(route)
      this.#run(
        'update routes set route = ?, mark = ?, listed_as = ?, outdated = 0 where host_name = ?',
        ...[text, this.#mark(`route ${hostName}`, text), route.listedAs ?? hostName, hostName],
      )
      this.#keepHost(route.hostId, route.upstream)
    })
  }

  /** Stores the address of a host once for all its routes. */
  #keepHost(hostId: number, upstream: string): void {
    const text = JSON.stringify(upstream)
    this.#run(
      'insert or replace into hosts (host_id, address, mark) values (?, ?, ?)',
      ...[hostId, text, this.#mark(`host ${hostId}`, text)],
    )
  }

  close(): void {
    this.#try(undefined, () => this.#database?.close())
    this.#database = undefined
  }

  #mark(name: string, text: string): string {
    return this.#options.sealer.mark(`${name}\n${text}`, PURPOSE)
  }

  #opened<Value>(name: string, text: unknown, mark: unknown): Value | undefined {
    return typeof text === 'string' && this.#mark(name, text) === mark ? (JSON.parse(text) as Value) : undefined
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (!statement) {
      statement = (this.#database as DatabaseSync).prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  #get(sql: string, ...values: (string | number)[]): Record<string, unknown> | undefined {
    return this.#prepared(sql).get(...values)
  }

  #run(sql: string, ...values: (string | number)[]): void {
    this.#prepared(sql).run(...values)
  }

  #try<Result>(otherwise: Result, work: () => Result): Result {
    if (!this.#database) return otherwise
    try {
      return work()
    } catch (error) {
      this.#options.log.warn({ err: error, file: this.#options.file }, 'could not use the known routes')
      return otherwise
    }
  }

  /** A start must not use what could not be brought up to date, for example on a full disk. */
  #bringUpToDate(work: () => void): void {
    const database = this.#database
    if (!database) return
    try {
      database.exec('begin immediate')
      work()
      database.exec('commit')
    } catch (error) {
      if (database.isTransaction) database.exec('rollback')
      // Another process of the edge writes. The next look applies the same changes.
      if ((error as { errcode?: number }).errcode === BUSY) throw error
      this.#options.log.warn({ err: error, file: this.#options.file }, 'deleted known routes that cannot be kept')
      this.#discard()
    }
  }

  #discard(): void {
    this.close()
    this.#statements.clear()
    try {
      for (const end of ['', '-wal', '-shm']) rmSync(`${this.#options.file}${end}`, { force: true })
    } catch (error) {
      this.#options.log.error({ err: error, file: this.#options.file }, 'could not delete known routes')
    }
  }
}

const BUSY = 5
/** Visitors wait meanwhile. */
const BUSY_MS = 100

function open(file: string): DatabaseSync {
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  const database = new DatabaseSync(file, { timeout: BUSY_MS })
  try {
    database.exec('pragma journal_mode = wal; pragma synchronous = off')
    const format = database.prepare('pragma user_version').get()?.user_version
    if (format !== 0 && format !== FORMAT) throw new Error('it is of another version')
    database.exec(`begin immediate;
      create table if not exists routes (host_name text primary key, listed_as text not null, route text not null,
        mark text not null, outdated integer not null) strict, without rowid;
      create index if not exists routes_listed_as on routes (listed_as);
      create index if not exists routes_outdated on routes (host_name) where outdated = 1;
      create table if not exists certificates (host_name text primary key, certificate text not null,
        mark text not null, issued_at integer not null) strict, without rowid;
      create table if not exists hosts (host_id integer primary key, address text not null, mark text not null) strict;
      create table if not exists position (seq integer not null) strict;
      pragma user_version = ${FORMAT};
      commit`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
