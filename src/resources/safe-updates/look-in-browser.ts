import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MeasureFailed, MeasureImpossible } from '../../hosting/page-measure/measure-page.ts'
import {
  type ComparedPictures,
  type PageToPicture,
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
  const at = now()
  const { pages, masks } = results.look_before
  const taken: { page: number; errors: readonly string[] }[] = []
  let missing: string | null = null
  for (const [page, { kind, path, steady }] of pages.entries()) {
    if (steady.status !== 200) continue
    try {
      const found = await services.takePictures(await pageOf(context, { kind, path, at, masks }))
      for (const { width, first, second } of found.pictures) {
        const folder = join(folderOf(context), String(page))
        await mkdir(folder, { recursive: true, mode: 0o755 })
        for (const [name, picture] of Object.entries({ first, second }))
          await writeFile(join(folder, `${width}-${name}.jpg`), Buffer.from(picture, 'base64'))
      }
      taken.push({ page, errors: found.errors })
    } catch (error) {
      missing ??= whyNone(context, error)
      if (error instanceof MeasureImpossible) break
    }
    progress((page + 1) / pages.length)
  }
  return { pages: taken, at, masks, missing }
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

async function pageOf(
  context: Context,
  { kind, path, at, masks }: Pick<PageToCompare, 'kind' | 'path' | 'at' | 'masks'>,
): Promise<PageToPicture> {
  const { services, input, signal } = context
  const site = await findSite(services.database.read, input.siteId)
  if (!site) throw new MeasureImpossible('The site was deleted')
  if (site.isInMaintenance) throw new MeasureImpossible('The site is in maintenance mode')
  if ((site.defensiveUntil ?? 0) > context.now()) throw new MeasureImpossible('The site is in defensive mode')
  const url = `http://${siteAddress(site, services.config)}${path}`
  return { url, siteId: site.id, widths: widthsOf(kind), masks, at, signal }
}

export interface PicturedPages {
  readonly pages: readonly UpdatedPage[]
  readonly pictures: readonly Omit<SafeUpdatePictureRow, 'operation_id'>[]
  readonly missing: string | null
}

/** Compares each page that has pictures with itself before the update. A page that differs gets a second chance. */
export async function picturesAfter(
  context: Context,
  before: BeforeInBrowser,
  pages: readonly UpdatedPage[],
): Promise<PicturedPages> {
  const compared = [...pages]
  const pictures: Omit<SafeUpdatePictureRow, 'operation_id'>[] = []
  let { missing } = before
  for (const [done, { page, errors }] of before.pages.entries()) {
    const known = pages[page]
    // A page that does not answer would only show an error.
    if (known?.after?.status !== 200) continue
    try {
      const { at, masks } = before
      const found = await lookTwice(context, { page, kind: known.kind, path: known.path, errors, at, masks })
      compared[page] = { ...known, ...describe(known, found, errors) }
      for (const { width, different, after, difference } of found.pictures) {
        if (different <= MOST_DIFFERENT) continue
        const earlier = await readFile(join(folderOf(context), String(page), `${width}-second.jpg`), 'base64')
        for (const [kind, picture] of Object.entries({ before: earlier, after, difference }))
          pictures.push({ page, width, kind: kind as SafeUpdatePictureRow['kind'], picture })
      }
    } catch (error) {
      missing ??= whyNone(context, error)
    }
    context.progress((done + 1) / before.pages.length)
  }
  return { pages: compared, pictures, missing }
}

interface PageToCompare {
  readonly page: number
  readonly kind: PageKind
  readonly path: string
  readonly errors: readonly string[]
  readonly at: number
  readonly masks: readonly string[]
}

async function lookTwice(context: Context, { errors, page, ...asking }: PageToCompare): Promise<ComparedPictures> {
  const asked = { ...(await pageOf(context, asking)), pictures: join(folderOf(context), String(page)) }
  const first = await context.services.comparePicturesAfter(asked)
  const isWell = first.pictures.every(({ different }) => different <= MOST_DIFFERENT)
  if (isWell && newErrors(first, errors).length === 0) return first
  return context.services.comparePicturesAfter(asked)
}

/** Numbers and addresses in a message do not make it a new one. */
const alike = (message: string): string => message.replace(/https?:\/\/\S+|\d+/g, '#')

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
