import { asDiskFull, DiskFull } from '../../hosting/site-directories/disk-space.ts'
import { type FilePlace, lookAtFile, putFile, removeFile } from '../../hosting/site-files/stage/single-file.ts'
import type { HostServices } from '../kit/host-services.ts'
import { FOLDER, MOST_PLUGIN_BYTES } from './mu-plugin.ts'

/** Result for one file of one site. */
export interface Laid {
  readonly outcome: 'installed' | 'updated' | 'unchanged' | 'removed' | 'absent' | 'kept' | 'skipped' | 'failed'
  readonly message?: string
}

export const isChange = ({ outcome }: Laid): boolean =>
  outcome === 'installed' || outcome === 'updated' || outcome === 'removed'

/** The content that a site should have under a name, and those that Stead has put there before. */
export interface Wish {
  readonly slug: string
  readonly wanted: { readonly sha256: string; readonly content: Uint8Array } | undefined
  /** SHA-256. */
  readonly known: ReadonlySet<string>
}

/**
 * Returns the wish for a site.
 * @throws Error when the wanted content has been replaced since `found` was read. A retry may help
 */
export function wishFor(found: {
  readonly slug: string
  readonly known: ReadonlySet<string> | undefined
  readonly sha256: string | undefined
  readonly content: Uint8Array | undefined
}): Wish {
  const { slug, known = new Set(), sha256, content } = found
  if (sha256 === undefined) return { slug, known, wanted: undefined }
  if (!content) throw new Error(`The must-use plugin ${slug} was just changed`)
  return { slug, known, wanted: { sha256, content } }
}

/**
 * Installs or removes a file. Never follows a link, and never replaces or removes a file that Stead has not put there
 * in this form.
 */
export async function layOnSite(services: HostServices, siteId: number, wish: Wish): Promise<Laid> {
  const directory = await services.siteDirectories.ofSite(siteId)
  if (!directory) return { outcome: 'skipped', message: 'The site is not installed yet. It gets the plugin afterwards' }
  const place: FilePlace = { siteDirectory: directory.path, uid: directory.uid, folder: FOLDER, name: wish.slug }
  try {
    const found = await lookAtFile(place, MOST_PLUGIN_BYTES)
    const isOurs = found.kind === 'file' && wish.known.has(found.sha256)
    if (!wish.wanted) return await takeAway(place, { isThere: found.kind !== 'nothing', isOurs })
    if (found.kind === 'file' && found.sha256 === wish.wanted.sha256) return { outcome: 'unchanged' }
    if (found.kind !== 'nothing' && !isOurs) return { outcome: 'skipped', message: ofTheSite(wish.slug) }
    // This may require measuring the site.
    const moreBytes = wish.wanted.content.length - (found.kind === 'file' ? found.sizeBytes : 0)
    if (moreBytes > 0)
      await services.siteFiles.checkRoom({ siteId, siteDirectory: directory.path, uid: directory.uid }, moreBytes)
    if (await putFile(place, wish.wanted.content, { replaces: isOurs }))
      return { outcome: isOurs ? 'updated' : 'installed' }
    return {
      outcome: 'skipped',
      message: `${FOLDER} of the site is not a folder, or it just got a file ${wish.slug}`,
    }
  } catch (error) {
    const reason = asDiskFull(error)
    if (reason instanceof DiskFull) return { outcome: 'failed', message: reason.message }
    throw error
  }
}

async function takeAway(place: FilePlace, { isThere, isOurs }: { isThere: boolean; isOurs: boolean }): Promise<Laid> {
  if (!isThere) return { outcome: 'absent' }
  if (!isOurs)
    return {
      outcome: 'kept',
      message: `The file on the site differs from the plugin, so Stead keeps it`,
    }
  await removeFile(place)
  return { outcome: 'removed' }
}

const ofTheSite = (slug: string) =>
  `The site has a different file ${FOLDER}/${slug}. Delete or rename it, then update the plugin`
