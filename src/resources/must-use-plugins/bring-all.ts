import type { HostServices } from '../kit/host-services.ts'
import { alone } from './alone.ts'
import { knownContents, muPluginContent } from './content.store.ts'
import { isChange, type Laid, layOnSite, wishFor } from './lay-on-site.ts'
import { wantedOn } from './member.store.ts'

/**
 * Installs all plugins that a site should have, and removes those that were deleted.
 * @returns whether anything changed, and what could not be done
 */
export async function bringAllToSite(
  services: HostServices,
  site: { readonly id: number; readonly accountId: number },
): Promise<{ isChanged: boolean; faults: string[] }> {
  const { read } = services.database
  const { id, accountId } = site
  return alone([id], async () => {
    const known = await knownContents(read, accountId)
    const wanted = new Map((await wantedOn(read, [id])).map((each) => [each.slug, each.sha256]))
    const laid: Laid[] = []
    for (const [slug, hashes] of known) {
      const sha256 = wanted.get(slug)
      const content = sha256 === undefined ? undefined : await muPluginContent(read, { accountId, slug, sha256 })
      laid.push(await layOnSite(services, id, wishFor({ slug, known: hashes, sha256, content })))
    }
    const faults = laid.filter(({ outcome }) => outcome === 'skipped' || outcome === 'failed')
    return { isChanged: laid.some(isChange), faults: faults.map(({ message = '' }) => message) }
  })
}
