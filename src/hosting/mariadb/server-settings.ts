/** Where the server has what. */
export interface ServerPlaces {
  readonly data: string
  readonly socket: string
  /** Empty, and not the server's to write: the only folder that statements could read and write files in. */
  readonly files: string
  /** Statements that the server runs before anybody can connect. */
  readonly initFile: string
}

/** A statement, and so a value, may be no longer. */
export const MOST_PACKET_BYTES = 64 << 20

/** Of all sites together: each has a bound of its own. An idle one costs no thread. Who administers gets one more. */
const MOST_CONNECTIONS = 2000

/**
 * The whole of the server's settings: it is started with this file alone, and reads nothing of /etc. For many databases that are small and mostly
 * idle: what is given for each connection is little, and what all share grows with use. Figures: docs/design/mariadb.md.
 */
export function serverSettings({ data, socket, files, initFile }: ServerPlaces): string {
  return `# Written by Stead at each start.
[mariadbd]
datadir = ${data}
socket = ${socket}
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
max-connections = ${MOST_CONNECTIONS}
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
max-allowed-packet = ${MOST_PACKET_BYTES}
wait-timeout = 600
interactive-timeout = 600
innodb-file-per-table = 1
innodb-buffer-pool-size = 64M
innodb-buffer-pool-dump-at-shutdown = 0
innodb-buffer-pool-load-at-startup = 0
innodb-log-file-size = 48M
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
