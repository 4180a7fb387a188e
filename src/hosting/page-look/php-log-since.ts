import { createHash } from 'node:crypto'
import { shortLine } from '../../platform/short-line.ts'
import { glance, openLog } from '../php-log/log-file.ts'
import { codeOwner, readMessage, type Severity } from '../php-log/php-message.ts'
import { splitLog } from '../php-log/split.ts'

/** The most bytes of a log that are read at once. Of more, the newest count. */
const MOST_BYTES = 1 << 20
const MOST_KINDS = 500
const MESSAGE_LENGTH = 300

/** A place in the PHP log of a site. Null: the log did not exist. */
export interface PhpLogEnd {
  readonly inode: number
  readonly sizeBytes: number
}

/** A kind of message: the same message counts once, whatever numbers and addresses it contains. */
export interface LoggedKind {
  readonly key: string
  readonly severity: string
  readonly message: string
  /** Whose code it is: `plugin`, `theme`, `core` and others, or empty. */
  readonly kind: string
  readonly name: string
}

/** Messages that something is broken, and those that something is wrong. The other kinds are advice for developers. */
const errors: ReadonlySet<string> = new Set<Severity>([
  'Fatal error',
  'Parse error',
  'Recoverable fatal error',
  'Database error',
])
/** Whose code an update moves to other files. */
const movable: ReadonlySet<string> = new Set(['plugin', 'mu-plugin', 'theme'])
export const isErrorMessage = ({ severity }: LoggedKind): boolean => errors.has(severity)
export const isWarningMessage = ({ severity }: LoggedKind): boolean => severity === ('Warning' satisfies Severity)

/** Returns where the log ends now. */
export function endOfLog(siteDirectory: string): PhpLogEnd | null {
  const found = glance(siteDirectory)
  return found ? { inode: found.inode, sizeBytes: found.sizeBytes } : null
}

/** Returns the kinds of messages that the PHP log of a site received since a place. A rotated log is read too. */
export function kindsSince(siteDirectory: string, since: PhpLogEnd | null): LoggedKind[] {
  const now = glance(siteDirectory)
  const isSame = since !== null && now?.inode === since.inode && now.sizeBytes >= since.sizeBytes
  const texts = isSame ? [] : [read(siteDirectory, 'old', since)]
  texts.push(read(siteDirectory, 'log', isSame ? since : null))
  const kinds = new Map<string, LoggedKind>()
  for (const bytes of texts)
    for (const { text } of splitLog(bytes, { inside: false, whole: true }).pieces) {
      const { severity, message, file } = readMessage(text)
      const short = shortLine(message, MESSAGE_LENGTH)
      const owner = codeOwner(file)
      // An update moves code to other files, and what it logged stays the same. An error counts wherever it is.
      const place = errors.has(severity) || !movable.has(owner.kind) ? file : `${owner.kind} ${owner.name}`
      const alike = `${severity} ${place} ${short.replace(/0x[0-9a-f]+|\w*\d\w*/gi, '#')}`
      const key = createHash('sha256').update(alike).digest('base64url').slice(0, 16)
      if (kinds.size < MOST_KINDS && !kinds.has(key)) kinds.set(key, { key, severity, message: short, ...owner })
    }
  return [...kinds.values()]
}

function read(siteDirectory: string, which: 'log' | 'old', from: PhpLogEnd | null): Buffer {
  const found = openLog(siteDirectory, which)
  if (!found) return Buffer.alloc(0)
  try {
    const { size, ino } = found.stats
    // An older rotated log was complete before.
    if (which === 'old' && from?.inode !== ino) return Buffer.alloc(0)
    const start = Math.max(from?.sizeBytes ?? 0, size - MOST_BYTES)
    return start < size ? found.read(start, size - start) : Buffer.alloc(0)
  } finally {
    found.close()
  }
}
