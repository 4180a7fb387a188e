/** One message of a site's PHP error log, without its time. */
export interface PhpMessage {
  readonly message: string
  readonly severity: string
  /** The path from the web root, or empty when unknown. */
  readonly file: string
  /** -1 when unknown. */
  readonly line: number
}

/**
 * PHP's names for its severities (main/main.c, php_error_cb). `User` is what `error_log()` writes, and `Database error`
 * what WordPress writes with it about a failed statement. Stored by position, so only append.
 */
export const severities = [
  'User',
  'Warning',
  'Deprecated',
  'Fatal error',
  'Parse error',
  'Notice',
  'Recoverable fatal error',
  'Strict Standards',
  'Unknown error',
  'Database error',
] as const
export type Severity = (typeof severities)[number]

/** The severities of what the site's code wrote with `error_log()`. */
const ofCode: ReadonlySet<Severity> = new Set<Severity>(['User', 'Database error'])
/** The beginning of WordPress' message about a failed statement. */
const DATABASE_ERROR = 'WordPress database error'

const MOST_CHARACTERS = 8192
/** The web root as PHP sees it. */
const WEB_ROOT = '/wordpress/'

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
/** `[21-Nov-2026 02:39:38 UTC] `, at the start of a text. */
const head = /^\[(\d\d)-([A-Z][a-z]{2})-(\d{4}) (\d\d):(\d\d):(\d\d) ([^\]\n]{1,40})\] /
/** Longer than any head. */
export const HEAD_BYTES = 80

/** @returns its length and its time; the time is `undefined` when it is not UTC */
export function readMessageHead(text: string): { length: number; atMs: number | undefined } | undefined {
  const match = head.exec(text)
  if (!match) return undefined
  const [all, day, month, year, hours, minutes, seconds, zone] = match as unknown as string[]
  const number = months.indexOf(month as string)
  const isUtc = number >= 0 && /^(?:UTC|GMT|\+00:00)$/.test(zone as string)
  const atMs = Date.UTC(Number(year), number, Number(day), Number(hours), Number(minutes), Number(seconds))
  return { length: (all as string).length, atMs: isUtc ? atMs : undefined }
}

/** Reads what follows the head: `PHP Warning:  … in /wordpress/x.php on line 3`, or any text for `error_log()`. */
export function readMessage(text: string): PhpMessage {
  const match = /^PHP ([A-Z][A-Za-z ]{1,30}): {1,2}/.exec(text)
  const severity = severities.find((name) => name === match?.[1] && !ofCode.has(name))
  if (!match || !severity) {
    const severity = text.startsWith(DATABASE_ERROR) ? 'Database error' : 'User'
    return { message: shown(text), severity, file: '', line: -1 }
  }
  return { severity, ...place(text.slice(match[0].length).trimEnd()) }
}

/**
 * Reads the file and line at the end. For an uncaught exception, they follow its stack trace (`  thrown in … on line
 * 3`).
 */
function place(text: string): Omit<PhpMessage, 'severity'> {
  const onLine = text.lastIndexOf(' on line ')
  const line = onLine < 0 ? '' : text.slice(onLine + 9)
  if (!/^\d{1,9}$/.test(line)) return { message: shown(text), file: '', line: -1 }
  const inFile = text.lastIndexOf(' in /', onLine)
  if (inFile < 0) return { message: shown(text.replace(/ in Unknown on line \d+$/, '')), file: '', line: -1 }
  const file = text.slice(inFile + 4, onLine)
  if (file.includes('\n')) return { message: shown(text), file: '', line: -1 }
  const message = text.slice(0, inFile).replace(/\n {2}thrown$/, '')
  return { message: shown(message), file: inSite(file).slice(0, 1024), line: Number(line) }
}

const inSite = (path: string): string => (path.startsWith(WEB_ROOT) ? path.slice(WEB_ROOT.length) : path)

/** Shortens paths to those in the site, and texts to a readable length. */
function shown(text: string): string {
  const short = text
    .trimEnd()
    .slice(0, MOST_CHARACTERS * 2)
    .replaceAll(WEB_ROOT, '')
  return short.length > MOST_CHARACTERS ? `${short.slice(0, MOST_CHARACTERS)}…` : short
}

/** Finds whose code a file is. @returns `kind`: `plugin`, `mu-plugin`, `theme`, `core`, or empty; and its name */
export function codeOwner(file: string): { kind: string; name: string } {
  const [, folder, first] = /^wp-content\/(mu-plugins|plugins|themes)\/([^/(]+)/.exec(file) ?? []
  if (folder && first) {
    const kind = { plugins: 'plugin', 'mu-plugins': 'mu-plugin', themes: 'theme' }[folder] as string
    return { kind, name: first.replace(/\.php$/, '') }
  }
  if (/^(?:wp-(?:admin|includes)\/|(?:wp-[a-z-]+|index|xmlrpc)\.php\b)/.test(file))
    return { kind: 'core', name: 'wordpress' }
  return { kind: '', name: '' }
}
