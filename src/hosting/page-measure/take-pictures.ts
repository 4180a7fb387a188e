import { shortLine } from '../../platform/short-line.ts'
import { isMask } from './mask.ts'
import { type BrowserVisit, type BrowserVisitOptions, MeasureFailed, runInJail } from './measure-page.ts'

/** The widths of pictures: a desk and a phone. */
export const pictureWidths = [1280, 390] as const
export type PictureWidth = (typeof pictureWidths)[number]

/** A page before an update, or after it. */
export interface PageToPicture extends BrowserVisit {
  readonly url: string
  readonly widths: readonly PictureWidth[]
  /** Selectors of elements that are hidden, because they change between two visits. Others than masks hide nothing. */
  readonly masks: readonly string[]
  /** What the page takes for the current time. */
  readonly at: number
  /** A folder with the pictures from before the update, to compare with. */
  readonly pictures?: string
}

/** What a browser saw of a page. The page may have made it up. */
export interface TakenPictures {
  /** Errors in the console, each once. */
  readonly errors: readonly string[]
  /** JPEG in Base64, two of each width. */
  readonly pictures: readonly { readonly width: PictureWidth; readonly first: string; readonly second: string }[]
}

export interface ComparedPictures {
  readonly errors: readonly string[]
  readonly pictures: readonly {
    readonly width: PictureWidth
    /** In percent. */
    readonly different: number
    readonly after: string
    readonly difference: string
  }[]
}

/** Four visits of a page. Time without a processor does not count. */
const MOST_MS = 120_000
/** The most characters of a picture in Base64. */
const MOST_PICTURE = 700_000
const MOST_ERRORS = 20

type Options = BrowserVisitOptions & Omit<PageToPicture, 'siteId'>

/**
 * Takes two pictures of a page at each width, in a jail of its own.
 * @throws MeasureFailed
 */
export async function takePictures(options: Options): Promise<TakenPictures> {
  const found = await shoot(options, [])
  const pictures = found.pictures.map(({ width, first, second }) => ({ width, ...both({ first, second }) }))
  return { errors: found.errors, pictures }
}

/**
 * Takes a picture of a page at each width, and compares it with those that {@link takePictures} took.
 * @throws MeasureFailed
 */
export async function comparePicturesAfter(options: Options): Promise<ComparedPictures> {
  const found = await shoot(options, ['--compares'])
  const pictures = found.pictures.map(({ width, different, after, difference }) => {
    if (typeof different !== 'number' || !(different >= 0 && different <= 100)) throw unreadable()
    return { width, different: Math.round(different * 100) / 100, ...both({ after, difference }) }
  })
  return { errors: found.errors, pictures }
}

type Untrusted = { readonly width: PictureWidth } & Readonly<Record<string, unknown>>

async function shoot(
  { url, widths, masks, at, ...options }: Options,
  more: readonly string[],
): Promise<{ errors: string[]; pictures: Untrusted[] }> {
  const task = [
    `--shot=${url}`,
    `--widths=${widths.join()}`,
    `--masks=${JSON.stringify(masks.filter(isMask))}`,
    `--at=${at}`,
    ...more,
  ]
  const found = (await runInJail({ mostMs: MOST_MS, ...options }, task)) as Record<string, unknown> | null
  const { errors, pictures } = found ?? {}
  if (!Array.isArray(errors) || !Array.isArray(pictures)) throw unreadable()
  const isText = (error: unknown): error is string => typeof error === 'string'
  return {
    errors: errors
      .filter(isText)
      .slice(0, MOST_ERRORS)
      .map((error) => shortLine(error, 200)),
    pictures: widths.map((width) => {
      const picture = pictures.find((each) => each?.width === width)
      if (!picture) throw unreadable()
      return { ...picture, width }
    }),
  }
}

/** Returns pictures in Base64, which the page may have made up. */
function both<Name extends string>(pictures: Record<Name, unknown>): Record<Name, string> {
  for (const picture of Object.values(pictures))
    if (typeof picture !== 'string' || picture.length > MOST_PICTURE || !/^\/9j\/[A-Za-z0-9+/]+=*$/.test(picture))
      throw unreadable()
  return pictures as Record<Name, string>
}

const unreadable = () => new MeasureFailed('The browser returned no readable result')
