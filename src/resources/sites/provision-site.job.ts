import Type from 'typebox'
import { CoreUnavailable } from '../../hosting/core-library/core-library.ts'
import { specialiseHome } from '../../hosting/homes/specialise.ts'
import type { PooledSite } from '../../hosting/php/pool.ts'
import type { Tx } from '../../platform/db/database.ts'
import { durableWith, PermanentFailure } from '../../platform/operations/definition.ts'
import type { HostServices } from '../host-services.ts'
import { installShop } from './install-shop.ts'
import {
  becomeLive,
  creationFailed,
  forgetFailure,
  homeOf,
  type NewSiteContext,
  removeHome,
  siteOf,
} from './new-site.job.ts'
import { adviceForShop } from './shop-runtime.ts'
import { siteConstants, stagingAddress } from './site.ts'
import { siteFilled } from './site-filled.ts'

type Context<Results = unknown> = NewSiteContext<Results>

/** From an ordered site to one that answers: a copy of the golden template with the site's own address and owner. */
export const provisionSite = durableWith<HostServices>()({
  name: 'site.provision',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'host',
  changeableBy: 'account',
  steps: {
    home: { run: claimHome, undo: removeHome },
    content: { run: writeContent },
    process: { run: movePhpIn },
    shop: { run: becomeShop, weight: 2 },
    answer: { run: seeItAnswer, weight: 2 },
    live: { commit: goLive },
  },

  failed: (tx, context) =>
    creationFailed(
      tx,
      context,
      context.canceled
        ? 'The installation of the site was canceled'
        : `The site could not be installed: ${context.error}`,
    ),
})

/** What is known once the site has a home. */
interface Claimed {
  readonly homeId: number
  readonly coreVersion: string
}

async function claimHome(context: Context): Promise<Claimed> {
  const { services, input } = context
  const site = await siteOf(context)
  await forgetFailure(context, site)
  const template = await services.template().catch((error) => {
    // no attempt will find a source that was not there a moment ago; the operator has to give one
    throw error instanceof CoreUnavailable ? new PermanentFailure(error.message) : error
  })
  const kind = { ...template, database: services.databaseKindFor(site.phpVersion) }
  const home = await services.homes.claim(input.siteId, kind, services.spares.homeIds(site.phpVersion))
  return { homeId: home.id, coreVersion: template.coreVersion }
}

/** What the site's own database says since then; the record may say something else by the time of a later step. */
interface Written {
  readonly address: string
  /** Of operations that an older Stead began: not known. */
  readonly title?: string
}

async function writeContent(context: Context): Promise<Written> {
  const { services } = context
  const [site, home, template] = await Promise.all([siteOf(context), homeOf(context), services.template()])
  await services.pool.stop(site.id, 0)
  // a process that is not waiting but being warmed would write while the database is replaced
  if (!services.spares.homeIds(site.phpVersion).includes(home.id)) await services.spares.take(home.id)
  const [address, title] = [stagingAddress(site.name, services.config), site.displayName]
  const onServer = await services.homes.databases.onServer(home, template.path)
  const facts = {
    address,
    title,
    adminUsername: site.adminUsername,
    adminEmail: site.adminEmail,
    environmentType: site.environmentType,
    constants: siteConstants(site),
    now: context.now(),
  }
  await specialiseHome(home.path, template.path, home.uid, facts, onServer)
  await siteFilled(services, site.id)
  return { address, title }
}

/** The site while it is not in the books of visitors yet. */
async function pooledSite(context: Context<{ content: Written }>): Promise<PooledSite> {
  const [site, home] = await Promise.all([siteOf(context), homeOf(context)])
  const { address } = context.results.content
  return context.services.homes.phpSite(home, { siteId: site.id, phpVersion: site.phpVersion, address })
}

async function movePhpIn(context: Context<{ content: Written }>): Promise<{ warm: boolean }> {
  const { services, input } = context
  const site = await pooledSite(context)
  const home = await homeOf(context)
  const spare = await services.spares.take(home.id, site.phpVersion)
  if (!spare) return { warm: false }
  // from here on somebody waits for it
  spare.setLowPriority(false)
  await spare.moveIn({ address: site.address })
  await services.pool.adopt({ ...site, siteId: input.siteId }, spare)
  return { warm: true }
}

/** Where one was ordered. */
async function becomeShop(context: Context<{ content: Written }>): Promise<{ warning: string } | undefined> {
  const site = await siteOf(context)
  if (site.install !== 'woocommerce') return undefined
  const home = await homeOf(context)
  await installShop(context, await pooledSite(context), home)
  const warning = adviceForShop(context.services, { homePath: home.path, phpVersion: site.phpVersion })
  return warning ? { warning } : undefined
}

/** The front page with the title that was written (the site may have been renamed since), and a write that is kept: a database that cannot be written answers pages all the same. */
async function seeItAnswer(context: Context<{ content: Written }>): Promise<void> {
  const { services } = context
  const { title: expected } = context.results.content
  const site = await pooledSite(context)
  const { title } = await services.firstPages.keep(site.siteId, async () => {
    const { page, ...proof } = await services.pool.runTask(site, 'check-site', {})
    return { ...proof, page: page && { headers: page.headers, body: Buffer.from(page.body, 'base64') } }
  })
  if (expected !== undefined && title !== expected)
    throw new Error('The homepage does not contain the title of the site')
  // not before: the next spare is made while nobody waits for this site
  services.refill()
}

async function goLive(tx: Tx, context: Context<{ home: Claimed; content: Written }>): Promise<void> {
  const { coreVersion } = context.results.home
  const { address } = context.results.content
  await becomeLive(tx, context, { coreVersion, address })
}
