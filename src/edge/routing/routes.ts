import { LRUCache } from 'lru-cache'
import { isWildcard, wildcardOver } from '../../platform/wildcard-name.ts'
import type { Route, Routes } from './route.ts'

/** A route that was added, changed, or removed, or a host with another address. */
export type RouteChange = { readonly seq: number } & (
  | { readonly hostName: string }
  | { readonly hostId: number; readonly upstream: string }
)

/** The changes committed after a number, as far as they are retained. */
export interface RouteChangesSince {
  /** The newest number. */
  readonly newest: number
  /** In order, without gaps. */
  readonly changes: readonly RouteChange[]
}

/** What a route table needs from the database, and its bounds. */
export interface RouteTableOptions {
  /** Returns the route of a normalized host name, or undefined. Rejects when the database is unavailable. */
  readonly load: (hostName: string) => Promise<Route | undefined>
  /** Returns the changes after a number, or with undefined only the newest number. */
  readonly changesSince: (seq: number | undefined) => Promise<RouteChangesSince>
  /**
   * Calls back when something may have changed. Returns a function that unsubscribes. Without it, the table only polls.
   */
  readonly onChange?: (callback: () => void) => () => void
  readonly onError?: (error: unknown) => void
  /** Returns the route of a name from the disk, for when the database is unreachable. */
  readonly lastKnown?: (hostName: string) => Route | undefined
  /** The interval of looks at `changesSince` when nothing is announced. */
  readonly pollMs?: number
  /** The most routes in the table. */
  readonly maxRoutes?: number
  /** The most names without a route, separate from the routes, so that a flood of invented names evicts no site. */
  readonly maxMisses?: number
  readonly missTtlMs?: number
  /** The age at which the table reads a route again without a known change. It uses the old one meanwhile. */
  readonly maxAgeMs?: number
  /** How long the last known route is served after a failed look-up, before the next try. */
  readonly retryMs?: number
  /** The most look-ups at once. Further ones are refused. */
  readonly maxPending?: number
}

/** The routes that an edge process knows. */
export interface RouteTable extends Routes {
  peek(hostName: string): Route | undefined | Promise<Route | undefined>
  suspect(hostName: string): void
  lookAgain(hostName: string): Promise<Route | undefined>
  /** Looks for changes now. Resolves when they are known. */
  refresh(): Promise<void>
  close(): void
}

/** Too many look-ups at once: names that were never requested before have to wait. */
export class RoutesBusy extends Error {}

interface Entry {
  route: Route
  /** When it was requested, monotonic. */
  readonly loadedAtMs: number
  /** Set by a change: must not be served, unless the look-up fails. */
  stale: boolean
  /** No look-up before this moment, because the last one failed. */
  retryAtMs: number
}

interface Pending {
  readonly promise: Promise<Route | undefined>
  /** A change arrived during the look-up, so its result may predate it. */
  outdated: boolean
}

interface Table {
  readonly options: Required<Omit<RouteTableOptions, 'onChange'>>
  readonly routes: LRUCache<string, Entry>
  readonly misses: LRUCache<string, true>
  readonly pending: Map<string, Pending>
}

/**
 * Creates a bounded table of routes over a store. Known names are answered without a promise, simultaneous look-ups of
 * one name are combined, and known routes are still served while the database is unreachable.
 */
export function createRouteTable(given: RouteTableOptions): RouteTable {
  const options = {
    onError: () => {},
    lastKnown: () => undefined,
    pollMs: 1_000,
    maxRoutes: 50_000,
    maxMisses: 20_000,
    missTtlMs: 5_000,
    maxAgeMs: 60_000,
    retryMs: 1_000,
    maxPending: 256,
    ...given,
  }
  const table: Table = {
    options,
    routes: new LRUCache({ max: options.maxRoutes }),
    misses: new LRUCache({ max: options.maxMisses, ttl: options.missTtlMs }),
    pending: new Map(),
  }
  const refresh = createRefresher(table)
  const tick = () => void refresh().catch(options.onError)
  const timer = setInterval(tick, options.pollMs)
  timer.unref()
  const unsubscribe = given.onChange?.(tick)
  tick()
  return {
    find: (hostName) => find(table, hostName),
    peek(hostName) {
      const entry = table.routes.peek(hostName)
      return entry && !entry.stale ? entry.route : find(table, hostName)
    },
    suspect(hostName) {
      const entry = table.routes.get(hostName)
      if (entry && performance.now() - entry.loadedAtMs > options.retryMs) reload(table, hostName, entry)
    },
    lookAgain(hostName) {
      invalidate(table, hostName)
      return lookUp(table, hostName).promise
    },
    refresh,
    close() {
      clearInterval(timer)
      unsubscribe?.()
    },
  }
}

function find(table: Table, hostName: string): Route | undefined | Promise<Route | undefined> {
  const entry = table.routes.get(hostName)
  if (!entry) {
    if (table.misses.has(hostName)) return undefined
    return lookUp(table, hostName).promise.catch((error) => beginServing(table, hostName, error))
  }
  const nowMs = performance.now()
  if (nowMs < entry.retryAtMs) return entry.route
  if (entry.stale) return lookUp(table, hostName).promise.catch((error) => keepServing(table, entry, error))
  if (nowMs - entry.loadedAtMs > table.options.maxAgeMs) reload(table, hostName, entry)
  return entry.route
}

/** Serves a name that this process has never looked up, until it can. */
function beginServing(table: Table, hostName: string, error: unknown): Route {
  const known = table.options.lastKnown(hostName)
  if (!known) throw error
  const entry = { route: known, loadedAtMs: performance.now(), stale: true, retryAtMs: 0 }
  table.routes.set(hostName, entry)
  return keepServing(table, entry, error)
}

function keepServing(table: Table, entry: Entry, error: unknown): Route {
  entry.retryAtMs = performance.now() + table.options.retryMs
  table.options.onError(error)
  if (entry.stale && !entry.route.isOutdated) entry.route = { ...entry.route, isOutdated: true }
  return entry.route
}

/** Looks a route up again in the background. */
function reload(table: Table, hostName: string, entry: Entry): void {
  if (!table.pending.has(hostName) && performance.now() >= entry.retryAtMs)
    lookUp(table, hostName).promise.catch((error) => keepServing(table, entry, error))
}

function lookUp(table: Table, hostName: string): Pending {
  const known = table.pending.get(hostName)
  if (known) return known
  const { pending, options } = table
  if (pending.size >= options.maxPending)
    return { promise: Promise.reject(new RoutesBusy('too many route lookups at once')), outdated: false }
  const entry: Pending = { promise: loadUntilCurrent(table, hostName, () => entry), outdated: false }
  pending.set(hostName, entry)
  return entry
}

/** A change during the look-up invalidates its result. The visitor waits for a newer one. */
async function loadUntilCurrent(table: Table, hostName: string, self: () => Pending): Promise<Route | undefined> {
  // Lets the caller record the look-up as pending first.
  await undefined
  try {
    for (;;) {
      self().outdated = false
      const loadedAtMs = performance.now()
      const route = await table.options.load(hostName)
      if (self().outdated) continue
      remember(table, hostName, route, loadedAtMs)
      return route
    }
  } finally {
    table.pending.delete(hostName)
  }
}

function remember(table: Table, hostName: string, route: Route | undefined, loadedAtMs: number): void {
  if (route) {
    table.routes.set(hostName, { route, loadedAtMs, stale: false, retryAtMs: 0 })
    table.misses.delete(hostName)
  } else {
    table.routes.delete(hostName)
    table.misses.set(hostName, true)
  }
}

function invalidate(table: Table, hostName: string): void {
  if (isWildcard(hostName)) for (const name of namesBelow(table, hostName)) invalidate(table, name)
  const pending = table.pending.get(hostName)
  if (pending) pending.outdated = true
  table.misses.delete(hostName)
  const entry = table.routes.get(hostName)
  if (entry) entry.stale = true
}

/** Returns the known names, and those being looked up, that a wildcard covers. */
const namesBelow = ({ routes, misses, pending }: Table, wildcard: string): string[] =>
  [...routes.keys(), ...misses.keys(), ...pending.keys()].filter((name) => wildcardOver(name) === wildcard)

/** Marks everything as unreliable. */
function invalidateAll(table: Table): void {
  for (const pending of table.pending.values()) pending.outdated = true
  for (const entry of table.routes.values()) entry.stale = true
  table.misses.clear()
}

/** Goes through the table once, however many sites the host serves, without database queries. */
function moveHost(table: Table, hostId: number, upstream: string): void {
  for (const pending of table.pending.values()) pending.outdated = true
  for (const entry of table.routes.values())
    if (entry.route.hostId === hostId && entry.route.upstream !== upstream) entry.route = { ...entry.route, upstream }
}

/** Reads what was committed since the last look, by number. A gap means that changes were missed. */
function createRefresher(table: Table): () => Promise<void> {
  let position: number | undefined
  const look = async () => {
    const { newest, changes } = await table.options.changesSince(position)
    const isWhole = newest === position || (changes[0]?.seq === (position ?? 0) + 1 && changes.at(-1)?.seq === newest)
    // The first look, a sleep that was too long, or an older copy of the database.
    if (position === undefined || !isWhole) invalidateAll(table)
    else
      for (const change of changes)
        if ('hostName' in change) invalidate(table, change.hostName)
        else moveHost(table, change.hostId, change.upstream)
    position = newest
  }
  let running: Promise<void> | undefined
  let again: Promise<void> | undefined
  return () => {
    if (running) {
      // A look in progress may have read before the announced change, so one more follows for all callers.
      again ??= running
        .catch(() => {})
        .then(() => {
          again = undefined
          return start()
        })
      return again
    }
    return start()
  }
  function start(): Promise<void> {
    running = look().finally(() => {
      running = undefined
    })
    return running
  }
}
