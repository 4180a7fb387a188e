import { notFound, Problem } from '../../platform/http/problem.ts'
import { aboutSite, type Recording } from '../kit/change.ts'
import type { Context } from '../kit/context.ts'
import { type VisibleSite, visibleSite } from '../sites/public.ts'
import { actions } from './actions.ts'
import { problems } from './problems.ts'
import { addTags, countTags, removeTags, setFavorite } from './tag.store.ts'

/** The most tags of one account: on a site, and in total. */
const MOST_TAGS = { ofSite: 200, ofAccount: 2000 }

/*
 * How one account arranges the sites that it sees. Each function returns the site as that account then sees it. A call
 * that changes nothing leaves no entry in the activity log.
 */

export async function arrangeFavorite(
  context: Context & Recording,
  accountId: number,
  site: VisibleSite,
  favorite: boolean,
): Promise<VisibleSite> {
  if (!(await setFavorite(context.tx, accountId, site.id, favorite))) return site
  const [action, message] = favorite
    ? ([actions['favorite.added'], `Marked ${site.name} as a favourite`] as const)
    : ([actions['favorite.removed'], `Removed ${site.name} from the favourites`] as const)
  await context.record({ action, message, about: aboutSite(site) })
  return seenAgain(context, accountId, site)
}

export async function arrangeNewTags(
  context: Context & Recording,
  accountId: number,
  site: VisibleSite,
  names: readonly string[],
): Promise<VisibleSite> {
  const added = await addTags(context.tx, accountId, site.id, names)
  const after = await seenAgain(context, accountId, site)
  if (after.tags.length > MOST_TAGS.ofSite || (await countTags(context.tx, accountId)) > MOST_TAGS.ofAccount)
    throw new Problem(problems.tag_limit_reached, MOST_TAGS)
  const message = `Added ${added.join(', ')} to ${site.name}`
  if (added.length > 0) await context.record({ action: actions['tag.added'], message, about: aboutSite(site) })
  return after
}

export async function arrangeFewerTags(
  context: Context & Recording,
  accountId: number,
  site: VisibleSite,
  ids: readonly number[],
): Promise<VisibleSite> {
  const removed = await removeTags(context.tx, accountId, site.id, ids)
  if (removed.length === 0) return site
  const message = `Removed ${removed.join(', ')} from ${site.name}`
  await context.record({ action: actions['tag.removed'], message, about: aboutSite(site) })
  return seenAgain(context, accountId, site)
}

/** @throws Problem `not_found` when the site was deleted, or hidden from the account, in the meantime */
async function seenAgain({ tx }: Context, accountId: number, site: VisibleSite): Promise<VisibleSite> {
  const seen = await visibleSite(tx, accountId, site.id)
  if (!seen) throw notFound()
  return seen
}
