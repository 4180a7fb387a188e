import { LRUCache } from 'lru-cache'

/** A way into WordPress' recovery mode, as a site says that it has made one. */
export interface RecoveryLink {
  /** `http(s)://…/wp-login.php?action=enter_recovery_mode&rm_token=…&rm_key=…`; whose host name it has is not looked at here. */
  readonly url: string
  /** What ended the page: `plugins/name` or `themes/name`; undefined when that is not known. */
  readonly cause: string | undefined
}

export interface RecoveryLinksOptions {
  readonly record: (siteId: number, link: RecoveryLink) => Promise<unknown>
  readonly log: { warn(facts: object, message: string): void }
}

/** No link that WordPress makes is longer. */
const MOST_CHARACTERS = 2_000
/** WordPress makes one a day; a site may say so as often as it likes. */
const PAUSE_MS = 60_000
const START = '{"recovery":'
const CAUSE = /^(?:plugins|themes)\/[\w.-]{1,100}$/
const SECRET = /^[A-Za-z0-9]{1,100}$/

/** @returns what takes the notes of sites (see `prepend.php`); those that speak of something else are left alone */
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

/** It is the site's word, and becomes a mail of Stead's: nothing of it is taken that is no such link. */
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
