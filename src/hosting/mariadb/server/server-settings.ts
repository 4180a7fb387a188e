/** Paths of the server. */
export interface ServerPlaces {
  readonly data: string
  readonly socket: string
  /** Empty and not writable for the server. The only folder in which statements could read and write files. */
  readonly files: string
  /** Folder for temporary files: on the disk of the data, where they can be watched. */
  readonly temporary: string
  /** Statements that the server runs before it accepts connections. */
  readonly initFile: string
  /**
   * Whether old row versions are in separate files, which can shrink. Only a server that was installed this way has
   * them.
   */
  readonly hasUndoFiles: boolean
  /** `10.11.19`. */
  readonly version: string
}

/** Size of the redo log, which is allocated in advance. */
export const LOG_FILE = '48M'

/** Number of undo files. */
export const UNDO_FILES = 3

const MB = 1 << 20
/** Memory limit of a session. A statement with the largest value takes three times its length. */
export const SESSION_MEMORY_BYTES = 256 * MB
/** Limits for temporary tables and files on the disk: of one table, of one session, and in total. */
export const temporaryLimits = { tableBytes: 512 * MB, sessionBytes: 512 * MB, allBytes: 1024 * MB } as const
/** File in the data folder with the temporary tables of all sessions. */
export const TEMPORARY_TABLES_FILE = 'ibtmp1'
/**
 * Size limit of that file. A rollback that reaches it aborts the server, so sessions are ended long before
 * (`watch/resource-watch.ts`). This limit is for a server that is not watched.
 */
export const MOST_TEMPORARY_TABLES_BYTES = 2048 * MB

/** The longest statement, and so the longest value. */
export const MOST_PACKET_BYTES = 64 << 20

/**
 * Total connections of all sites, each of which has its own limit. An idle connection costs no thread. The
 * administrator gets one extra.
 */
const MOST_CONNECTIONS = 2000

/**
 * Returns the complete settings. The server starts with this file alone and reads nothing from /etc. They suit many
 * small, mostly idle databases: little memory per connection, and shared caches that grow with use
 * (`docs/design/mariadb.md`).
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

/** Limits sessions and what they write besides their tables. A session may change its own limit up to `maximum-…`. */
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
