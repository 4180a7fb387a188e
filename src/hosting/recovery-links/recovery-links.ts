import { LRUCache } from 'lru-cache'

/** A link into WordPress' recovery mode, according to the site that created it. */
export interface RecoveryLink {
  /** `http(s)://…/wp-login.php?action=enter_recovery_mode&rm_token=…&rm_key=…`. Its host name is not checked here. */
  readonly url: string
  /** The plugin or theme that broke the page: `plugins/name` or `themes/name`, or undefined when it is unknown. */
  readonly cause: string | undefined
}

export interface RecoveryLinksOptions {
  readonly record: (siteId: number, link: RecoveryLink) => Promise<unknown>
  readonly log: { warn(facts: object, message: string): void }
}

/** WordPress creates no longer links. */
const MOST_CHARACTERS = 2_000
/** WordPress creates one a day, but a site may report them at any rate. */
const PAUSE_MS = 60_000
const START = '{"recovery":'
const CAUSE = /^(?:plugins|themes)\/[\w.-]{1,100}$/
const SECRET = /^[A-Za-z0-9]{1,100}$/

/** @returns a function that handles notes of sites (see `prepend.php`) and ignores those about other things */
export function createRecoveryLinks({ record, log }: RecoveryLinksOptions): (siteId: number, text: string) => void {
  const told = new LRUCache<number, true>({ max: 1000, ttl: PAUSE_MS })
  return (siteId, text) => {
    if (!text.startsWith(START) || text.length > MOST_CHARACTERS || told.has(siteId)) return
    const link = readRecoveryLink(text)
    if (!link) return
    told.set(siteId, true)
    record(siteId, link).catch((error) =>
      log.warn({ err: error, siteId }, 'could not send a recovery mode link to the owner of a site'),
    )
  }
}

/** Accepts only valid links. The site controls the note, and it becomes a mail of Stead. */
function readRecoveryLink(text: string): RecoveryLink | undefined {
  try {
    const { url, cause } = (JSON.parse(text) as { recovery: { url: string; cause?: unknown } }).recovery
    const { origin, pathname, searchParams } = new URL(url)
    const [token, key] = [searchParams.get('rm_token') ?? '', searchParams.get('rm_key') ?? '']
    if (!/^https?:/.test(origin) || !/^(?:\/[\w.~-]+)*\/wp-login\.php$/.test(pathname)) return undefined
    if (!SECRET.test(token) || !SECRET.test(key)) return undefined
    return {
      url: `${origin}${pathname}?action=enter_recovery_mode&rm_token=${token}&rm_key=${key}`,
      cause: typeof cause === 'string' && CAUSE.test(cause) ? cause : undefined,
    }
  } catch {
    return undefined
  }
}
