import type { Tx } from '../../platform/db/database.ts'
import type { StepContext } from '../../platform/operations/definition.ts'
import { recordResults, type SiteResult } from '../../platform/operations/results.ts'
import { aboutSite, changeOfJob } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import { purgeCaches } from '../sites/public.ts'
import { alone } from './alone.ts'
import { bringToSite } from './bring-to-site.job.ts'
import { knownContents, muPluginContent } from './content.store.ts'
import { isChange, type Laid, layOnSite, type Wish, wishFor } from './lay-on-site.ts'
import { dropDeletedFrom, type Member, membersAmong, membersOf, wantedOn } from './member.store.ts'
import type { MuPlugin } from './mu-plugin.ts'

type Context = StepContext<unknown, HostServices>

/** The number of sites that Stead reads, changes and records together. */
const AT_ONCE = 16

/**
 * Installs or removes a plugin's file on the sites of this host, as the database requires at that moment. A site that
 * is being created, or that another operation works on, gets its own operation, which waits for that. Each result is
 * recorded, and not repeated.
 */
export async function bringToSitesHere(context: Context, plugin: MuPlugin): Promise<void> {
  const { services, operationId, signal, progress } = context
  const { read } = services.database
  const open = await membersOf(read, plugin.id, { hostId: services.hostId, without: operationId })
  for (let at = 0; at < open.length; at += AT_ONCE) {
    signal.throwIfAborted()
    const ids = open.slice(at, at + AT_ONCE).map(({ siteId }) => siteId)
    await alone(ids, () => bringToSome(context, plugin, ids))
    progress((at + ids.length) / open.length)
  }
}

/** Result for a site, or why it gets its own operation. */
interface Done {
  readonly site: Member
  readonly laid?: Laid
  readonly later?: string
}

async function bringToSome(context: Context, plugin: MuPlugin, ids: readonly number[]): Promise<void> {
  const before = await membersAmong(context.services.database.read, ids)
  const wishes = await wishesOf(context, plugin, ids)
  const all = await Promise.all(before.map((site) => bringToOne(context, site, wishes(site.siteId))))
  await context.transaction(async (tx) => {
    const since = new Map((await membersAmong(tx, ids)).map((site) => [site.siteId, site]))
    const done = new Map(all.map((each) => [each.site.siteId, each]))
    const results: SiteResult[] = []
    for (const siteId of ids) results.push(await resultOf(tx, context, siteId, done.get(siteId), since.get(siteId)))
    await recordResults(tx, context.operationId, results)
    const settled = results.filter(({ followUpId }) => !followUpId).map(({ siteId }) => siteId)
    await dropDeletedFrom(tx, settled, plugin.slug)
    for (const { site, laid } of all) if (laid && isChange(laid)) await purgeCaches(tx, site.siteId, { pages: 'all' })
  })
}

/** Returns a function that finds the wish of each site. */
async function wishesOf(
  { services }: Context,
  { slug, accountId }: MuPlugin,
  ids: readonly number[],
): Promise<(siteId: number) => Wish> {
  const { read } = services.database
  const known = (await knownContents(read, accountId, slug)).get(slug)
  const wanted = new Map((await wantedOn(read, ids, slug)).map(({ siteId, sha256 }) => [siteId, sha256]))
  const wishes = new Map<string | undefined, Wish>()
  for (const sha256 of new Set([undefined, ...wanted.values()])) {
    const content = sha256 === undefined ? undefined : await muPluginContent(read, { accountId, slug, sha256 })
    wishes.set(sha256, wishFor({ slug, known, sha256, content }))
  }
  return (siteId) => wishes.get(wanted.get(siteId)) as Wish
}

async function bringToOne({ services, log }: Context, site: Member, wish: Wish): Promise<Done> {
  if (!isFree(site)) return { site, later: BUSY }
  try {
    return { site, laid: await layOnSite(services, site.siteId, wish) }
  } catch (error) {
    // One site of thousands must not stop the others.
    log.warn({ err: error, siteId: site.siteId }, 'could not install a must-use plugin on a site')
    return { site, later: 'Stead could not write the files of the site and tries again' }
  }
}

const BUSY = 'The site is busy. Stead installs the plugin afterwards'

const isFree = ({ isMade, isClosed }: Member): boolean => isMade && !isClosed

async function resultOf(
  tx: Tx,
  context: Context,
  siteId: number,
  done: Done | undefined,
  since: Member | undefined,
): Promise<SiteResult> {
  if (!since || !done) return { siteId, outcome: 'skipped', message: 'The site was deleted' }
  // Its files were replaced meanwhile, or are about to be, so the installed file may be lost.
  const isDisturbed = !isFree(since) || since.changes !== done.site.changes
  const { laid, later = isDisturbed ? BUSY : undefined } = done
  if (laid && later === undefined) return { siteId, ...laid }
  const about = aboutSite({ id: siteId, accountId: since.accountId, hostId: since.hostId })
  const followUpId = await changeOfJob(tx, context).start(bringToSite, { siteId }, { about })
  return { siteId, outcome: 'scheduled', message: later ?? BUSY, followUpId }
}
