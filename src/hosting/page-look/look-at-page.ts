import { randomUUID } from 'node:crypto'
import { headerOf } from '../../platform/http/request/raw-headers.ts'
import type { PhpPool, PooledSite } from '../php/pool/pool.ts'
import { isHostsDoing, PhpCrashed, PhpTimeout } from '../php/runtime.ts'
import { readPage } from '../site-imports/page-text.ts'
import { withoutCache } from './without-cache.ts'

/** The most that is read of a page. The rest does not count. */
const MOST_BYTES = 2 << 20
/** The most words of a page that are kept: what a look stores stays small, whatever the page. */
const MOST_WORDS = 1000

/** Elements whose number tells the structure of a page. Others come and go with the content. */
export const countedTags = [
  'form',
  'input',
  'button',
  'nav',
  'header',
  'main',
  'footer',
  'h1',
  'table',
  'video',
] as const
export type CountedTag = (typeof countedTags)[number]

/** The page that a visitor who is not logged in gets. */
export interface PageLook {
  /** 0: PHP did not answer. */
  readonly status: number
  /** The path of a redirect, or empty. */
  readonly location: string
  readonly title: string
  readonly words: readonly string[]
  readonly tags: Readonly<Record<CountedTag, number>>
  readonly ms: number
}

export interface PageToLookAt {
  /** With its query. */
  readonly path: string
  readonly signal: AbortSignal
}

/**
 * Requests a page as a visitor who is not logged in. No cache answers.
 * @throws PhpStarved, PhpDisplaced, PhpNotReached, PhpBusy, which say nothing about the site
 */
export async function lookAtPage(
  pool: Pick<PhpPool, 'handle'>,
  site: PooledSite,
  { path, signal }: PageToLookAt,
): Promise<PageLook> {
  const script = scriptOf(path)
  const request = {
    ...{
      method: 'GET',
      path: withoutCache(path) + randomUUID(),
      script,
      body: null,
      https: false,
      host: site.address,
      remoteAddress: '127.0.0.1',
    },
    headers: ['Host', site.address, 'Accept', 'text/html'],
  }
  const began = performance.now()
  try {
    const { status, headers, body } = await pool.handle(site, request, signal, { isJudged: true })
    const kept: Buffer[] = []
    let bytes = 0
    // PHP is free again when its page has been read.
    for await (const piece of body as AsyncIterable<Buffer>) {
      if (bytes < MOST_BYTES) kept.push(piece)
      bytes += piece.length
    }
    const html = Buffer.concat(kept).toString()
    const location = URL.parse(headerOf(headers, 'location') ?? '', `http://${site.address}${path}`)
    const { title, words } = readPage(html)
    return {
      ...{ status, location: status >= 300 && status < 400 ? (location?.pathname ?? '') : '', title },
      ...{ words: [...words].slice(0, MOST_WORDS), tags: countTags(html), ms: Math.round(performance.now() - began) },
    }
  } catch (error) {
    signal.throwIfAborted()
    if (isHostsDoing(error) || !(error instanceof PhpCrashed || error instanceof PhpTimeout)) throw error
    const ms = Math.round(performance.now() - began)
    return { status: 0, location: '', title: '', words: [], tags: countTags(''), ms }
  }
}

/** Only the log-in page has a script of its own. */
const scriptOf = (path: string): string =>
  /^\/wp-login\.php(\?|$)/.test(path) ? '/wordpress/wp-login.php' : '/wordpress/index.php'

function countTags(html: string): Record<CountedTag, number> {
  const counts = Object.fromEntries(countedTags.map((tag) => [tag, 0])) as Record<CountedTag, number>
  for (const [, name = ''] of html.matchAll(/<([a-z][a-z0-9]{0,9})[\s>/]/gi)) {
    const tag = name.toLowerCase() as CountedTag
    if (tag in counts) counts[tag]++
  }
  return counts
}
