import { shortLine } from '../../platform/short-line.ts'
import { withoutCache } from '../page-look/without-cache.ts'
import { isMask } from './mask.ts'
import {
  type BrowserVisit,
  type BrowserVisitOptions,
  MeasureFailed,
  runPartsInJail,
  unreadable,
} from './measure-page.ts'

/** The widths of pictures: a desk and a phone. */
export const pictureWidths = [1280, 390] as const
export type PictureWidth = (typeof pictureWidths)[number]

export interface PageToPicture {
  /** Its place among the pages of the update. */
  readonly page: number
  /** No cache answers. */
  readonly url: string
  readonly widths: readonly PictureWidth[]
}

/** Pages of a site before an update. */
export interface PagesToPicture extends BrowserVisit {
  readonly pages: readonly PageToPicture[]
  /** Selectors of elements that are hidden, because they change between two visits. Others than masks hide nothing. */
  readonly masks: readonly string[]
  /** What the pages take for the current time. */
  readonly at: number
}

/** Pages of a site after an update. */
export interface PagesToPictureAgain extends PagesToPicture {
  /** A folder with the pictures from before, in a folder for each page. */
  readonly pictures: string
  /** How many pictures of a page are taken at each width, at most. */
  readonly looks: number
  /** A page of which no more differs, in percent, needs no other picture. */
  readonly most: number
}

/** What a browser saw of a page. The page, or another one of the site, may have made it up. */
export interface TakenPictures {
  readonly page: number
  /** Errors in the console, each once. */
  readonly errors: readonly string[]
  /** JPEG in Base64, two of each width. */
  readonly pictures: readonly { readonly width: PictureWidth; readonly first: string; readonly second: string }[]
}

export interface ComparedPicture {
  readonly width: PictureWidth
  /** In percent. */
  readonly different: number
  /** JPEG in Base64. Missing if nothing differs. */
  readonly shown?: { readonly after: string; readonly difference: string }
}

export interface ComparedPictures {
  readonly page: number
  /** Errors that came with each of the pictures of a width. */
  readonly errors: readonly string[]
  readonly pictures: readonly ComparedPicture[]
}

/** A page that could not be opened, or took too much. The reason may be shown to users. */
export interface UnseenPage {
  readonly page: number
  readonly failed: string
}

/** Gets what was seen of each page, as soon as it is there. */
export type OnPage<Seen> = (seen: Seen | UnseenPage) => Promise<void>

/** For the pictures of one page, and for many of one that differs. Time without a processor does not count. */
const [MOST_MS, MOST_MS_OF_MANY] = [120_000, 240_000]
/** A browser that has had so much time opens no other page, so that the other sites of the host have their turn. */
const TURN_MS = 180_000
/** The most characters of a picture in Base64: one that is full of text has 900,000. */
const MOST_PICTURE = 1_400_000
const MOST_ERRORS = 20

export interface PictureOptions extends Omit<BrowserVisitOptions, 'pictures' | 'input'> {
  /** Runs a visit when it is its turn. */
  inTurn<Result>(visit: () => Promise<Result>): Promise<Result>
  /** For tests. */
  readonly turnMs?: number
}

type BeforeOptions = PictureOptions & Omit<PagesToPicture, 'siteId'>
type AfterOptions = PictureOptions & Omit<PagesToPictureAgain, 'siteId'>

/** Takes two pictures of each page at each width. */
export async function takePictures(options: BeforeOptions, onPage: OnPage<TakenPictures>): Promise<void> {
  await look({ ...options, looks: 0, most: 0 }, onPage, (seen, { page, widths }) => ({
    page,
    errors: errorsOf(seen),
    pictures: picturesOf(seen, widths).map(({ width, first, second }) => ({ width, ...both({ first, second }) })),
  }))
}

/** Compares pictures of each page at each width with those that {@link takePictures} took. */
export async function comparePicturesAfter(options: AfterOptions, onPage: OnPage<ComparedPictures>): Promise<void> {
  await look(options, onPage, (seen, { page, widths }) => ({
    page,
    errors: errorsOf(seen),
    pictures: picturesOf(seen, widths).map(({ width, different, after, difference }) => {
      if (typeof different !== 'number' || !(different >= 0 && different <= 100)) throw unreadable()
      const rounded = Math.round(different * 100) / 100
      return { width, different: rounded, ...(different > 0 && { shown: both({ after, difference }) }) }
    }),
  }))
}

type Untrusted = Readonly<Record<string, unknown>>
type Read<Seen> = (seen: Untrusted, page: PageToPicture) => Seen

/**
 * Opens pages in one browser, one after the other. If a page ends the browser, or takes too much, another browser opens
 * the remaining ones.
 */
async function look<Seen>(
  options: PictureOptions & Omit<PagesToPictureAgain, 'siteId' | 'pictures'>,
  onPage: OnPage<Seen>,
  read: Read<Seen>,
): Promise<void> {
  const left = [...options.pages]
  const seen = async (part: unknown) => {
    const found = (typeof part === 'object' && part !== null ? part : {}) as Untrusted
    const place = left.findIndex(({ page }) => page === found.page)
    const [page] = place < 0 ? [] : left.splice(place, 1)
    if (!page) throw unreadable()
    await onPage(readSafely(found, page, read))
  }
  while (left.length > 0) {
    const before = left.length
    let failed: MeasureFailed | undefined
    try {
      await options.inTurn(() => visit({ ...options, pages: [...left] }, seen))
    } catch (error) {
      if (!(error instanceof MeasureFailed)) throw error
      failed = error
    }
    if (left.length === before) failed ??= unreadable()
    // Pages are opened in order, so this one was open at the end.
    const page = failed && left.shift()
    if (page) await onPage({ page: page.page, failed: (failed as MeasureFailed).message })
  }
}

async function visit(
  {
    pages,
    masks,
    at,
    looks,
    most,
    turnMs = TURN_MS,
    ...options
  }: PictureOptions & Omit<PagesToPictureAgain, 'siteId' | 'pictures'>,
  seen: (part: unknown) => Promise<void>,
): Promise<void> {
  const uncached = pages.map((page) => ({ ...page, url: withoutCache(page.url) }))
  const input = JSON.stringify({ pages: uncached, masks: masks.filter(isMask), at, looks, most })
  const startedAt = performance.now()
  await runPartsInJail({ mostMs: looks > 1 ? MOST_MS_OF_MANY : MOST_MS, ...options, input }, ['--shoot'], {
    most: pages.length,
    async take(part) {
      await seen(part)
      return performance.now() - startedAt > turnMs
    },
  })
}

function readSafely<Seen>(found: Untrusted, page: PageToPicture, read: Read<Seen>): Seen | UnseenPage {
  if (typeof found.failed === 'string') return { page: page.page, failed: shortLine(found.failed, 200) }
  try {
    return read(found, page)
  } catch (error) {
    if (!(error instanceof MeasureFailed)) throw error
    return { page: page.page, failed: error.message }
  }
}

function errorsOf({ errors }: Untrusted): string[] {
  if (!Array.isArray(errors)) throw unreadable()
  const isText = (error: unknown): error is string => typeof error === 'string'
  return errors
    .filter(isText)
    .slice(0, MOST_ERRORS)
    .map((error) => shortLine(error, 200))
}

function picturesOf(
  { pictures }: Untrusted,
  widths: readonly PictureWidth[],
): (Untrusted & { readonly width: PictureWidth })[] {
  if (!Array.isArray(pictures)) throw unreadable()
  return widths.map((width) => {
    const picture = pictures.find((each) => each?.width === width)
    if (!picture) throw unreadable()
    return { ...picture, width }
  })
}

/** Returns pictures in Base64, which the page may have made up. */
function both<Name extends string>(pictures: Record<Name, unknown>): Record<Name, string> {
  for (const picture of Object.values(pictures))
    if (typeof picture !== 'string' || picture.length > MOST_PICTURE || !/^\/9j\/[A-Za-z0-9+/]+=*$/.test(picture))
      throw unreadable()
  return pictures as Record<Name, string>
}
