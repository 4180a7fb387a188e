import { fetchPublic } from '../../platform/fetch/fetch-public.ts'
import { MeasureFailed, MeasureImpossible } from '../page-measure/measure-page.ts'
import { getFrontPage } from '../php/front-page.ts'
import type { PhpPool, PooledSite } from '../php/pool/pool.ts'
import { type PageText, readPage, sameWords } from './page-text.ts'

/** A page of the old site next to the same page of the new one. */
export interface PageComparison {
  readonly path: string
  /** Null when it does not answer. */
  readonly old: { readonly status: number; readonly title: string } | null
  readonly new: { readonly status: number; readonly title: string }
  /** The share of the words that both have, in percent. */
  readonly sameText: number | null
  /** How much of the pictures of both differs, in percent; null: they were not compared. */
  readonly differentPicture: number | null
  /** Why the pictures were not compared; null: they were. */
  readonly noPicture: string | null
}

export interface CompareOptions {
  readonly pool: Pick<PhpPool, 'handle'>
  readonly site: PooledSite
  /** The address of the old site. */
  readonly oldAddress: string
  readonly allowPrivate: boolean
  readonly signal: AbortSignal
  /** @returns how much differs, in percent @throws MeasureImpossible, MeasureFailed */
  comparePictures(pages: { readonly old: string; readonly new: string; readonly signal: AbortSignal }): Promise<number>
  /** For all pictures; default: 4 minutes. */
  readonly picturesMs?: number
}

/** The most pages besides the front page. */
const MOST_PAGES = 5
const MOST_BYTES = 2 << 20
const FETCH_MS = 15_000
const PICTURES_MS = 240_000
const TOO_LATE = 'The browser took too long for all pages'
const REASON_LENGTH = 300

interface Page extends PageText {
  readonly status: number
}

/**
 * Compares the front page of a site, and the first pages it links to, with the same pages of the site it comes from:
 * first the words of all, then their pictures.
 */
export async function comparePages(options: CompareOptions): Promise<PageComparison[]> {
  const { pool, site, signal } = options
  const ask = async (path: string): Promise<Page> => {
    const { status, text } = await getFrontPage(pool, site, { signal, path })
    return { status, ...readPage(text) }
  }
  const front = await ask('/')
  const texts = [await compareTexts('/', front, options)]
  for (const path of pathsIn(front, site.address)) texts.push(await compareTexts(path, await ask(path), options))
  return withPictures(texts, options)
}

type TextComparison = Omit<PageComparison, 'differentPicture' | 'noPicture'>

async function compareTexts(path: string, page: Page, options: CompareOptions): Promise<TextComparison> {
  const old = await oldPage(path, options)
  return {
    path,
    old: old && { status: old.status, title: old.title },
    new: { status: page.status, title: page.title },
    sameText: old && sameWords(old, page),
  }
}

async function withPictures(texts: readonly TextComparison[], options: CompareOptions): Promise<PageComparison[]> {
  const { site, oldAddress, picturesMs = PICTURES_MS } = options
  const late = AbortSignal.timeout(picturesMs)
  const signal = AbortSignal.any([options.signal, late])
  let impossible: string | undefined
  const compareOne = async ({ path, old }: TextComparison): Promise<number | string> => {
    const address = old && addressOf(path, oldAddress)
    if (impossible !== undefined) return impossible
    if (!address) return 'The old site does not answer'
    try {
      if (late.aborted) return TOO_LATE
      return await options.comparePictures({ old: address.href, new: `http://${site.address}${path}`, signal })
    } catch (error) {
      options.signal.throwIfAborted()
      if (late.aborted) return TOO_LATE
      if (error instanceof MeasureImpossible) impossible = error.message
      else if (!(error instanceof MeasureFailed)) throw error
      return error.message
    }
  }
  const compared: PageComparison[] = []
  for (const text of texts) {
    const found = await compareOne(text)
    compared.push(
      typeof found === 'number'
        ? { ...text, differentPicture: found, noPicture: null }
        : { ...text, differentPicture: null, noPicture: shown(found) },
    )
  }
  return compared
}

/** A hostile page may have written it. */
const shown = (reason: string): string =>
  reason
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, REASON_LENGTH)
    .toWellFormed()

/** A foreign dump can name any address as the old site's `home`. `fetchPublic` refuses all but http. */
function addressOf(path: string, home: string): URL | undefined {
  const address = URL.parse(home)
  if (!address) return undefined
  Object.assign(address, { pathname: path, search: '', hash: '', username: '', password: '' })
  return address
}

async function oldPage(path: string, { oldAddress, allowPrivate, signal }: CompareOptions): Promise<Page | null> {
  const address = addressOf(path, oldAddress)
  if (!address) return null
  const asked = { allowPrivate, allowHttp: true, maxBytes: MOST_BYTES, timeoutMs: FETCH_MS, signal }
  return fetchPublic(address, asked, async ({ status, body }) => {
    const pieces: Buffer[] = []
    for await (const piece of body) pieces.push(piece)
    return { status, ...readPage(Buffer.concat(pieces).toString()) }
  }).catch((error: { status?: number }) => {
    signal.throwIfAborted()
    return error.status === undefined ? null : { status: error.status, ...readPage('') }
  })
}

/** Returns the pages that a page links to, in its order: only those of the same site, without files or queries. */
export function pathsIn({ links }: Pick<PageText, 'links'>, address: string): string[] {
  const paths = links.flatMap((href) => {
    const url = URL.parse(href, `http://${address}/`)
    const isPage = url?.host === address && !/\/wp-|\.\w{2,5}$|\/feed\/?$/.test(url.pathname)
    return isPage && url.pathname !== '/' ? [url.pathname] : []
  })
  return [...new Set(paths)].slice(0, MOST_PAGES)
}
