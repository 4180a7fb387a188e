import { type RawBuilder, sql } from 'kysely'
import { isPostgres, type Tx } from '../platform/db/database.ts'
import { databaseNow } from '../platform/operations/worker/lease.ts'

/**
 * The operator's decision about a host.
 * active    it gets new sites
 * cordoned  it keeps its sites, and gets no new ones
 * lost      its sites are recovered on other hosts, and it cannot report until it is activated again
 * removed   it no longer exists
 */
export const hostStates = ['active', 'cordoned', 'lost', 'removed'] as const
export type HostState = (typeof hostStates)[number]

/**
 * What people see of a host.
 * draining  it is cordoned, and an operation moves its sites to other hosts
 * drained   it is cordoned, and has no sites, not even in the trash
 */
export type ShownHostState = HostState | 'draining' | 'drained'

/** States in which a host may run. */
export const usableStates = ['active', 'cordoned'] as const satisfies readonly HostState[]

export const isUsable = (state: HostState): state is (typeof usableStates)[number] =>
  usableStates.some((usable) => usable === state)

/** A host that has not reported for this long is silent: it gets no new site. Hosts report every two seconds. */
export const HOST_SILENT_MS = 10_000

/**
 * Returns whether the host of a query reported recently, by the clock of the database. On SQLite, everything runs on
 * one machine, and the supervisor restarts the host, so a site may wait for it.
 */
export const isHeard = (tx: Tx): RawBuilder<boolean> =>
  isPostgres(tx) ? sql<boolean>`hosts.seen_at > ${databaseNow(tx)} - ${HOST_SILENT_MS}` : sql<boolean>`1 = 1`

/** Returns whether the host of a query may get new sites. */
export const takesSites = (tx: Tx): RawBuilder<boolean> => sql<boolean>`hosts.state = 'active' and ${isHeard(tx)}`
