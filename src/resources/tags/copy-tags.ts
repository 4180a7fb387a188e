import type { Tx } from '../../platform/db/database.ts'
import type { ListedSite, Site } from '../sites/public.ts'
import { addTags, tagsOfSite } from './tag.store.ts'

/** Copies the tags that the owner gave the source of a clone. */
export async function copyTags(tx: Tx, site: Site): Promise<Partial<ListedSite>> {
  if (site.clonedFromId === null) return {}
  const tags = await tagsOfSite(tx, site.accountId, site.clonedFromId)
  await addTags(
    tx,
    site.accountId,
    site.id,
    tags.map(({ name }) => name),
  )
  return { tags }
}
