/** Where the server has what. */
export interface ServerPlaces {
  readonly data: string
  readonly socket: string
  /** Empty, and not the server's to write: the only folder that statements could read and write files in. */
  readonly files: string
  /** Where the server writes temporary files: on the disk of the data, and seen by who watches it. */
  readonly temporary: string
  /** Statements that the server runs before anybody can connect. */
  readonly initFile: string
  /** Old row versions are in files of their own, which shrink again. Only a server that was installed so has them. */
  readonly hasUndoFiles: boolean
  /** `10.11.19`. */
  readonly version: string
}

/** The log of changes that a crash is repaired from, with its room taken ahead. */
export const LOG_FILE = '48M'

/** Files of old row versions. */
export const UNDO_FILES = 3

const MB = 1 << 20
/** What one session may hold: a statement with the largest value takes three times its length. */
export const SESSION_MEMORY_BYTES = 256 * MB
/** Of one table that a statement makes for itself on the disk, of what a session has of such files, and of all of them. */
export const temporaryLimits = { tableBytes: 512 * MB, sessionBytes: 512 * MB, allBytes: 1024 * MB } as const
/** In the data folder: the temporary tables of all sessions. */
export const TEMPORARY_TABLES_FILE = 'ibtmp1'
/**
 * Where that file ends. A rollback that meets the end aborts the server, so sessions are ended long before (`watch/resource-watch.ts`): this is for a
 * server that nobody watches.
 */
export const MOST_TEMPORARY_TABLES_BYTES = 2048 * MB

/** A statement, and so a value, may be no longer. */
export const MOST_PACKET_BYTES = 64 << 20

/** Of all sites together: each has a bound of its own. An idle one costs no thread. Who administers gets one more. */
const MOST_CONNECTIONS = 2000

/**
 * The whole of the server's settings: it is started with this file alone, and reads nothing of /etc. For many databases that are small and mostly
 * idle: what is given for each connection is little, and what all share grows with use. Figures: docs/design/mariadb.md.
 */
export function serverSettings(places: ServerPlaces): string {
  const { data, socket, files, temporary, initFile } = places
  return `# Written by Stead at each start.
[mariadbd]
datadir = ${data}
socket = ${socket}
tmpdir = ${temporary}
init-file = ${initFile}

# who comes, and what they can reach
skip-networking
skip-name-resolve
skip-symbolic-links
local-infile = 0
secure-file-priv = ${files}
event-scheduler = DISABLED
# a backup of a table is of one moment only where its engine has transactions
enforce-storage-engine = InnoDB

# text
character-set-server = utf8mb4
collation-server = utf8mb4_unicode_520_ci

# many small databases, mostly idle
performance-schema = 0
thread-handling = pool-of-threads
table-open-cache = 1000
table-definition-cache = 800
key-buffer-size = 64K
aria-pagecache-buffer-size = 2M
query-cache-type = 0
query-cache-size = 0
sort-buffer-size = 512K
join-buffer-size = 256K
read-buffer-size = 128K
tmp-table-size = 8M
max-heap-table-size = 8M
${limitSettings(places).join('\n')}
wait-timeout = 600
interactive-timeout = 600
innodb-file-per-table = 1
innodb-buffer-pool-size = 64M
innodb-buffer-pool-dump-at-shutdown = 0
innodb-buffer-pool-load-at-startup = 0
innodb-log-file-size = ${LOG_FILE}
innodb-log-buffer-size = 2M
# a statement that has answered is on the disk
innodb-flush-log-at-trx-commit = 1
skip-log-bin

# the host's own connections end without a word; that is nothing to write down
log-warnings = 1

# slow statements, counted for each site
slow-query-log = 1
log-output = TABLE
long-query-time = 1
`
}

/** What bounds sessions and what they write besides their tables. A session may set its own limit, up to `maximum-…`. */
function limitSettings({ hasUndoFiles, version }: ServerPlaces): string[] {
  const { tableBytes, sessionBytes, allBytes } = temporaryLimits
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const countsTemporaryFiles = major > 11 || (major === 11 && minor >= 5)
  const upTo = (name: string, bytes: number) => [`${name} = ${bytes}`, `maximum-${name} = ${bytes}`]
  return [
    `max-connections = ${MOST_CONNECTIONS}`,
    `max-allowed-packet = ${MOST_PACKET_BYTES}`,
    ...upTo('max-session-mem-used', SESSION_MEMORY_BYTES),
    ...upTo('tmp-disk-table-size', tableBytes),
    `innodb-temp-data-file-path = ${TEMPORARY_TABLES_FILE}:12M:autoextend:max:${MOST_TEMPORARY_TABLES_BYTES / MB}M`,
    ...(hasUndoFiles ? [`innodb-undo-tablespaces = ${UNDO_FILES}`, 'innodb-undo-log-truncate = 1'] : []),
    ...(countsTemporaryFiles
      ? [...upTo('max-tmp-session-space-usage', sessionBytes), `max-tmp-total-space-usage = ${allBytes}`]
      : []),
  ]
}
