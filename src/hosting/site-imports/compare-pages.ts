import { fetchPublic } from '../../platform/fetch/fetch-public.ts'
import { getFrontPage } from '../php/front-page.ts'
import type { PhpPool, PooledSite } from '../php/pool/pool.ts'

/** A page of the old site next to the same page of the new one. */
export interface PageComparison {
  readonly path: string
  /** Null when it does not answer. */
  readonly old: { readonly status: number; readonly title: string } | null
  readonly new: { readonly status: number; readonly title: string }
  /** The share of the words that both have, in percent. */
  readonly sameText: number | null
}

export interface CompareOptions {
  readonly pool: Pick<PhpPool, 'handle'>
  readonly site: PooledSite
  /** The address of the old site. */
  readonly oldAddress: string
  readonly allowPrivate: boolean
  readonly signal: AbortSignal
}

/** The most pages besides the front page. */
const MOST_PAGES = 5
const MOST_BYTES = 2 << 20
const FETCH_MS = 15_000

interface Page {
  readonly status: number
  readonly text: string
}

/** Requests the front page of a site and the first pages it links to, and the same pages of the site it comes from. */
export async function comparePages(options: CompareOptions): Promise<PageComparison[]> {
  const { pool, site, signal } = options
  const ask = (path: string) => getFrontPage(pool, site, { signal, path })
  const front = await ask('/')
  const compared = [await compare('/', front, options)]
  for (const path of pathsIn(front.text, site.address)) compared.push(await compare(path, await ask(path), options))
  return compared
}

async function compare(path: string, page: Page, options: CompareOptions): Promise<PageComparison> {
  const old = await oldPage(path, options)
  return {
    path,
    old: old && { status: old.status, title: titleOf(old.text) },
    new: { status: page.status, title: titleOf(page.text) },
    sameText: old && sameText(old.text, page.text),
  }
}

async function oldPage(path: string, { oldAddress, allowPrivate, signal }: CompareOptions): Promise<Page | null> {
  const address = URL.parse(path, oldAddress)
  if (!address) return null
  const asked = { allowPrivate, allowHttp: true, maxBytes: MOST_BYTES, timeoutMs: FETCH_MS, signal }
  return fetchPublic(address, asked, async ({ status, body }) => {
    const pieces: Buffer[] = []
    for await (const piece of body) pieces.push(piece)
    return { status, text: Buffer.concat(pieces).toString() }
  }).catch((error: { status?: number }) => {
    signal.throwIfAborted()
    return error.status === undefined ? null : { status: error.status, text: '' }
  })
}

/** Returns the pages that a page links to, in its order: only those of the same site, without files or queries. */
export function pathsIn(html: string, address: string): string[] {
  const paths = [...html.matchAll(/<a\s[^>]{0,2000}?href=["']([^"'#?]{1,500})["']/gi)].flatMap(([, href]) => {
    const url = URL.parse(href as string, `http://${address}/`)
    const isPage = url?.host === address && !/\/wp-|\.\w{2,5}$|\/feed\/?$/.test(url.pathname)
    return isPage && url.pathname !== '/' ? [url.pathname] : []
  })
  return [...new Set(paths)].slice(0, MOST_PAGES)
}

export function titleOf(html: string): string {
  const [, title = ''] = /<title[^>]{0,200}>([^<]{0,500})/i.exec(html) ?? []
  return title.replace(/\s+/g, ' ').trim().slice(0, 200)
}

/** Returns the share of the words of two pages that both have, in percent. */
export function sameText(one: string, other: string): number {
  const [a, b] = [wordsOf(one), wordsOf(other)]
  if (a.size === 0 && b.size === 0) return 100
  const both = [...a].filter((word) => b.has(word)).length
  return Math.round((100 * both) / (a.size + b.size - both))
}

function wordsOf(html: string): Set<string> {
  const text = html
    .replace(/<(script|style|noscript)\b[\s\S]*?<\/\1\s*>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#?\w{1,10};/g, ' ')
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])
}
