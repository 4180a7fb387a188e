import type { Config } from './config.ts'
import type { BudgetTerms } from './platform/budgets/budget.ts'

/*
 * Every budget of every process: each thing whose size or number outsiders decide, its limit, and what happens beyond
 * it. Roles open their budgets from here. `docs/design/limits.md` is generated from it, and a test compares the two.
 * Budgets of memory add up to less than the process has (`test/contract/limits.test.ts`).
 */

const MB = 1 << 20

type Table = Readonly<Record<string, BudgetTerms>>

/** Of the API and of work that needs no site files. */
export const controlBudgets = (_config: Config) =>
  ({
    requestBodies: {
      name: 'request_bodies',
      what: 'bodies of requests to the API, up to 1 MB each, from their head to the end of the answer',
      of: 'memory',
      whose: 'address',
      each: 16 * MB,
      all: 64 * MB,
      over: '429 `too_many_bodies` with `Retry-After`, before anything is read',
    },
    eventStreams: {
      name: 'event_streams',
      what: 'open streams of operations and the event feed',
      of: 'count',
      whose: 'application',
      each: 50,
      all: 500,
      over: '429 `too_many_streams` with `Retry-After`',
    },
    passwordHashing: {
      name: 'password_hashing_bytes',
      what: 'memory for hashing passwords of the control panel, 19 MB each',
      of: 'memory',
      whose: 'address',
      each: 40 * MB,
      all: 80 * MB,
      over: '429 `too_many_sign_ins` with `Retry-After`',
    },
    downloads: {
      name: 'downloads',
      what: 'backup downloads in progress, about 6 MB each; a client that reads less than 64 kB in a minute is cut off',
      of: 'count',
      whose: 'application',
      each: 4,
      all: 12,
      over: '429 `too_many_downloads` with `Retry-After`',
    },
  }) as const satisfies Table

/** Of a host: the web server of its sites, and their PHP seen from outside. */
export const hostBudgets = ({ phpAtOnce, phpQueue, siteDiskMb, uploadMaxMb }: Config) =>
  ({
    siteDisk: {
      name: 'site_disk_bytes',
      what: 'bytes of all files of a site on the disk of its host (and 25 files and folders for each MB, at least 20,000)',
      of: 'disk',
      whose: 'site',
      each: siteDiskMb * MB,
      // `platform/files/free-room.ts` protects the remaining disk space by checking the disk itself.
      all: Number.MAX_SAFE_INTEGER,
      over: 'PHP and SQLite see a full disk; visitors can still read, and Stead tells the owner once a day',
    },
    taskResults: {
      name: 'task_results',
      what: 'results of PHP tasks (events, checks) while Stead reads them; other output is dropped as it comes, up to 64 MB',
      of: 'memory',
      whose: 'site',
      each: 1 * MB,
      all: 16 * MB,
      over: 'the task fails; one with endless output is ended with its process',
    },
    siteMails: {
      name: 'site_mails',
      what: 'mails of sites until Stead has sent them or given up: their bytes and 8 kB for each',
      of: 'disk',
      whose: 'site',
      each: 100 * MB,
      all: 1024 * MB,
      over: "`mail()` returns false, and the site's log says why once an hour",
    },
    outgoing: {
      name: 'outgoing',
      what: 'connections of sites to the outside; each buffers at most 128 kB',
      of: 'count',
      whose: 'site',
      each: 32,
      all: 1024,
      over: 'PHP cannot connect',
    },
    lookups: {
      name: 'name_lookups',
      what: 'name lookups in progress for sites, up to 3 s each',
      of: 'count',
      whose: 'site',
      each: 16,
      all: 1024,
      over: 'PHP cannot connect',
    },
    answerMemory: {
      name: 'answer_memory',
      what: 'answers of PHP for slow visitors, in memory (1 MB an answer)',
      of: 'memory',
      whose: 'site',
      each: 8 * MB,
      all: 64 * MB,
      over: 'the rest goes into a file without a name',
    },
    answerDisk: {
      name: 'answer_disk',
      what: 'answers of PHP for slow visitors, in files',
      of: 'disk',
      whose: 'site',
      each: 256 * MB,
      all: 2048 * MB,
      over: 'PHP waits; after 2 s without progress the slowest visitor is cut off',
    },
    phpPlaces: {
      name: 'php_places',
      what: 'requests in native PHP beside the first of the same site',
      of: 'count',
      whose: 'site',
      each: phpAtOnce,
      all: Math.max(128, phpAtOnce),
      over: 'they wait for other requests of their site',
    },
    bodies: {
      name: 'bodies',
      what: 'request bodies from their first byte until PHP has them',
      of: 'count',
      whose: 'site',
      each: phpQueue,
      all: Math.max(2048, phpQueue),
      over: '503 before anything is read',
    },
    bodiesOfAddress: {
      name: 'bodies_of_address',
      what: 'the same by visitor',
      of: 'count',
      whose: 'address',
      each: phpQueue,
      all: Math.max(2048, phpQueue),
      over: '503 before anything is read',
    },
    bodyMemory: {
      name: 'body_memory',
      what: 'request bodies in memory (up to 64 kB each)',
      of: 'memory',
      whose: 'site',
      each: 4 * MB,
      all: 32 * MB,
      over: 'they go into a file without a name',
    },
    bodyDisk: {
      name: 'body_disk',
      what: 'request bodies in files, with their announced length from the start',
      of: 'disk',
      whose: 'site',
      each: Math.max(512, 2 * uploadMaxMb) * MB,
      all: Math.max(2048, 4 * uploadMaxMb) * MB,
      over: '503 before anything is read; without an announced length as soon as it is too much',
    },
    bodyDiskOfAddress: {
      name: 'body_disk_of_address',
      what: 'the same by visitor',
      of: 'disk',
      whose: 'address',
      each: Math.max(256, uploadMaxMb) * MB,
      all: Math.max(2048, 4 * uploadMaxMb) * MB,
      over: '503 before anything is read; without an announced length as soon as it is too much',
    },
  }) as const satisfies Table

/** Of pages and files in an edge process outside its cache. */
const edgeBodies = ({ edgeCacheMb }: Config) =>
  ({
    bodies: {
      name: 'edge_bodies',
      what: 'pages and files on their way into the cache, a part of `STEAD_EDGE_CACHE_MB`; entries make room for them',
      of: 'memory',
      whose: 'site',
      each: edgeCacheMb * (MB / 4),
      all: edgeCacheMb * (MB / 2),
      over: "the answer passes through at its visitor's pace, and is not cached",
    },
    diskBodies: {
      name: 'edge_disk_bodies',
      what: 'pages and files between the memory of the cache and its disk, an eighth of `STEAD_EDGE_CACHE_MB`',
      of: 'memory',
      whose: 'site',
      each: edgeCacheMb * (MB / 16),
      all: edgeCacheMb * (MB / 8),
      over: 'they are dropped, or fetched from the host',
    },
    passing: {
      name: 'edge_passing',
      what: 'answers that are not cached, while their visitors do not read them: 192 kB each, in the connections to both sides',
      of: 'memory',
      whose: 'site',
      each: 24 * MB,
      all: 48 * MB,
      over: 'visitors who have read nothing for 2 s, or less than 1 kB a second, are cut off, the slowest first; those who make progress stay',
    },
  }) as const satisfies Table

/** Of each edge process. */
export const edgeBudgets = (config: Config) =>
  ({
    ...edgeBodies(config),
    logEntries: {
      name: 'edge_log_entries',
      what: 'access log entries that are not stored yet',
      of: 'memory',
      whose: 'site',
      each: 8 * MB,
      all: 32 * MB,
      over: 'entries are dropped, and counted',
    },
    connections: {
      name: 'edge_connections',
      what: 'connections of visitors, and over HTTP/2 each further request in flight; those of `STEAD_TRUST_PROXY` do not count',
      of: 'count',
      whose: 'address',
      each: 1_024,
      all: 16_384,
      over: '503 with `Retry-After`, and the connection is closed; over HTTP/2 the request is refused, and the client may retry',
    },
    waitingBodies: {
      name: 'edge_waiting_bodies',
      what: 'request bodies until they are complete, or 16 kB have arrived',
      of: 'memory',
      whose: 'address',
      each: 1 * MB,
      all: 16 * MB,
      over: 'they go to the host as they arrive',
    },
    siteRequests: {
      name: 'edge_site_requests',
      what: 'requests in flight to hosts',
      of: 'count',
      whose: 'site',
      each: 192,
      all: 2_048,
      over: 'visitors who have sent or read nothing for 2 s, or less than 1 kB a second, are cut off, the slowest first; else 503 with `Retry-After`, or an older page from the cache',
    },
    addressRequests: {
      name: 'edge_address_requests',
      what: 'the same by visitor',
      of: 'count',
      whose: 'address',
      each: 128,
      all: 2_048,
      over: 'the same',
    },
  }) as const satisfies Table

/** Of each name server process. */
export const dnsBudgets = (_config: Config) =>
  ({
    connections: {
      name: 'dns_connections',
      what: 'TCP connections of resolvers and secondaries, up to 100 kB each; one without a whole message for 10 s is closed',
      of: 'count',
      whose: 'address',
      each: 64,
      all: 1_024,
      over: 'the connection is closed',
    },
  }) as const satisfies Table

/**
 * Of a host's MariaDB, which all its sites share. Sessions over these limits are ended
 * (`hosting/mariadb/resource-watch.ts`). The server's own settings limit the rest.
 */
export const mariaDbLimits = {
  siteMemoryBytes: 384 * MB,
  memoryBytes: 1024 * MB,
  temporaryBytes: 512 * MB,
  allTemporaryBytes: 1024 * MB,
  temporaryTablesBytes: 512 * MB,
} as const

/** The maximum sum of a process's memory budgets, in bytes. The process itself takes about 100 MB more. */
export const memoryOfPart = ({ edgeCacheMb }: Config) => ({
  control: 192 << 20,
  host: 256 << 20,
  edge: (edgeCacheMb + 96) << 20,
  dns: 0,
})
