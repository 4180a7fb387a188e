import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MeasureFailed, MeasureImpossible } from '../../hosting/page-measure/measure-page.ts'
import {
  type ComparedPicture,
  type ComparedPictures,
  type PagesToPicture,
  type PictureWidth,
  pictureWidths,
} from '../../hosting/page-measure/take-pictures.ts'
import type { StepContext } from '../../platform/operations/definition.ts'
import type { HostServices } from '../kit/host-services.ts'
import { findSite, siteAddress } from '../sites/public.ts'
import type { BeforeUpdate } from './look-at-site.ts'
import type { PageKind, SafeUpdateOrder, UpdatedPage } from './safe-update.ts'
import type { SafeUpdatePictureRow } from './tables.ts'

/*
 * Looks at pages with a browser, where the host has one. Without it, or when it fails, the rest of the comparison still
 * counts, and the report says why pictures are missing.
 */

type Context<Results = unknown> = StepContext<SafeUpdateOrder, HostServices, Results>

/** So much of a page may differ, in percent of its squares: a few characters, and not a line of text that moves. */
const MOST_DIFFERENT = 0.3

export interface BeforeInBrowser {
  /** Pages with pictures, by their place. */
  readonly pages: readonly { readonly page: number; readonly errors: readonly string[] }[]
  /** What pages take for the current time. */
  readonly at: number
  readonly masks: readonly string[]
  /** Why pictures are missing. */
  readonly missing: string | null
}

/** A theme that breaks at one width shows it on the homepage. Of the other pages, one width is enough. */
const widthsOf = (kind: PageKind): readonly PictureWidth[] => (kind === 'front' ? pictureWidths : [pictureWidths[0]])

/** The folder for the pictures from before, on the host. */
const folderOf = ({ services, operationId }: Pick<Context, 'services' | 'operationId'>): string =>
  join(services.config.dataDir, 'safe-updates', String(operationId))

/** Takes two pictures of each page that answers, at each width. */
export async function picturesBefore(context: Context<{ look_before: BeforeUpdate }>): Promise<BeforeInBrowser> {
  const { services, results, now, progress } = context
  await forgetBefore(context)
  // A clock that shows seconds shows the same one for as long as possible.
  const at = Math.floor(now() / 1000) * 1000
  const { pages, masks } = results.look_before
  const wanted = pages.flatMap(({ kind, path, steady }, page) => (steady.status === 200 ? [{ page, kind, path }] : []))
  const taken: { page: number; errors: readonly string[] }[] = []
  let [seen, missing]: [number, string | null] = [0, null]
  await look(context, { pages: wanted, at, masks }, (asked) =>
    services.takePictures(asked, async (found) => {
      if ('failed' in found) missing ??= found.failed
      else {
        await keepPictures(join(folderOf(context), String(found.page)), found.pictures)
        taken.push({ page: found.page, errors: found.errors })
      }
      progress(++seen / wanted.length)
    }),
  ).catch((error) => {
    missing ??= whyNone(context, error)
  })
  return { pages: taken, at, masks, missing }
}

async function keepPictures(
  folder: string,
  pictures: readonly { readonly width: PictureWidth; readonly first: string; readonly second: string }[],
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o755 })
  for (const { width, first, second } of pictures)
    for (const [name, picture] of Object.entries({ first, second }))
      await writeFile(join(folder, `${width}-${name}.jpg`), Buffer.from(picture, 'base64'))
}

/** Removes the pictures from before. */
export async function forgetBefore(context: Pick<Context, 'services' | 'operationId'>): Promise<void> {
  await rm(folderOf(context), { recursive: true, force: true })
}

/** @returns the reason of a failed visit @throws all other errors */
function whyNone({ signal }: Pick<Context, 'signal'>, error: unknown): string {
  signal.throwIfAborted()
  if (error instanceof MeasureImpossible || error instanceof MeasureFailed) return error.message.slice(0, 500)
  throw error
}

interface PageToSee {
  /** Its place. */
  readonly page: number
  readonly kind: PageKind
  readonly path: string
}

/** Looks at pages, if there are any, and the site shows them to visitors. */
async function look(
  context: Context,
  { pages, at, masks }: { pages: readonly PageToSee[]; at: number; masks: readonly string[] },
  take: (pages: PagesToPicture) => Promise<void>,
): Promise<void> {
  if (pages.length === 0) return
  const { services, input, signal, now } = context
  const site = await findSite(services.database.read, input.siteId)
  if (!site) throw new MeasureImpossible('The site was deleted')
  if (site.isInMaintenance) throw new MeasureImpossible('The site is in maintenance mode')
  if ((site.defensiveUntil ?? 0) > now()) throw new MeasureImpossible('The site is in defensive mode')
  const address = siteAddress(site, services.config)
  const wanted = pages.map(({ page, kind, path }) => ({
    page,
    url: `http://${address}${path}`,
    widths: widthsOf(kind),
  }))
  await take({ siteId: site.id, pages: wanted, masks, at, signal })
}

export interface PicturedPages {
  readonly pages: readonly UpdatedPage[]
  readonly pictures: readonly Omit<SafeUpdatePictureRow, 'operation_id'>[]
  readonly missing: string | null
}

/** How many pictures of a doubtful page are taken at each width: what differs between them changes without an update. */
const MOST_LOOKS = 5
/** The part of the progress that the first look is. */
const FIRST_LOOK = 0.8

/** Compares each page that has pictures with itself before the update. Pages that differ get a second look. */
export async function picturesAfter(
  context: Context,
  before: BeforeInBrowser,
  pages: readonly UpdatedPage[],
): Promise<PicturedPages> {
  const compared = [...pages]
  const pictures: Omit<SafeUpdatePictureRow, 'operation_id'>[] = []
  let { missing } = before
  const errorsBefore = new Map(before.pages.map(({ page, errors }) => [page, errors]))
  const compare = async (wanted: readonly PageToSee[], looks: number, onSeen: (seen: Judgement) => Promise<void>) => {
    await look(context, { pages: wanted, at: before.at, masks: before.masks }, (asked) =>
      context.services.comparePicturesAfter(
        { ...asked, pictures: folderOf(context), looks, most: MOST_DIFFERENT },
        async (found) => {
          if ('failed' in found) missing ??= found.failed
          const [known, errors] = [pages[found.page], errorsBefore.get(found.page)]
          if (!('failed' in found) && known && errors) await onSeen({ known, found, errors })
        },
      ),
    ).catch((error) => {
      missing ??= whyNone(context, error)
    })
  }
  const keep = async ({ known, found, errors }: Judgement) => {
    compared[found.page] = { ...known, ...describe(known, found, errors) }
    for (const picture of found.pictures) pictures.push(...(await picturesOf(context, found.page, picture)))
  }
  const wanted = before.pages.flatMap(({ page }) => {
    const known = pages[page]
    // A page that does not answer would only show an error.
    return known?.after?.status === 200 ? [{ page, kind: known.kind, path: known.path }] : []
  })
  const doubtful = new Map<number, Judgement>()
  let seen = 0
  await compare(wanted, 1, async (judgement) => {
    if (isWell(judgement)) await keep(judgement)
    else doubtful.set(judgement.found.page, judgement)
    context.progress((FIRST_LOOK * ++seen) / wanted.length)
  })
  await compare(
    wanted.filter(({ page }) => doubtful.has(page)),
    MOST_LOOKS,
    async (judgement) => {
      doubtful.delete(judgement.found.page)
      await keep(judgement)
    },
  )
  // A page that differed, and that cannot be seen again, counts as different.
  for (const judgement of doubtful.values()) await keep(judgement)
  return { pages: compared, pictures, missing }
}

/** What was seen of a page after the update. */
interface Judgement {
  readonly known: UpdatedPage
  readonly found: ComparedPictures
  /** Of before the update. */
  readonly errors: readonly string[]
}

const isWell = ({ found, errors }: Judgement): boolean =>
  found.pictures.every(({ different }) => different <= MOST_DIFFERENT) && newErrors(found, errors).length === 0

/** Returns the pictures of the report, if the page differs. */
async function picturesOf(
  context: Context,
  page: number,
  { width, different, shown }: ComparedPicture,
): Promise<Omit<SafeUpdatePictureRow, 'operation_id'>[]> {
  if (different <= MOST_DIFFERENT || !shown) return []
  const before = await readFile(join(folderOf(context), String(page), `${width}-second.jpg`), 'base64')
  return Object.entries({ before, ...shown }).map(([kind, picture]) => ({
    ...{ page, width, picture },
    kind: kind as SafeUpdatePictureRow['kind'],
  }))
}

/** Addresses, numbers and names that a minifier chose do not make a message a new one. */
const alike = (message: string): string =>
  message.replace(/https?:\/\/\S+|[\w$]*\d[\w$]*|(?<![\w$])[\w$]{1,2}(?![\w$])/g, '#')

function newErrors({ errors }: ComparedPictures, before: readonly string[]): string[] {
  const known = new Set(before.map(alike))
  return errors.filter((error) => !known.has(alike(error)))
}

const MOST_SHOWN = 3

function describe(
  known: UpdatedPage,
  found: ComparedPictures,
  before: readonly string[],
): Pick<UpdatedPage, 'differences' | 'pictures'> {
  const pictures = found.pictures.map(({ width, different }) => ({
    ...{ width, different },
    isDifferent: different > MOST_DIFFERENT,
  }))
  const differences = [
    ...known.differences,
    ...pictures
      .filter(({ isDifferent }) => isDifferent)
      .map(({ width, different }) => `${different} % of the page looks different at a width of ${width} px`),
    ...newErrors(found, before)
      .slice(0, MOST_SHOWN)
      .map((error) => `a new error in the browser’s console: ${error}`),
  ]
  return { differences, pictures }
}
