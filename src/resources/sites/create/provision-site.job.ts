import Type from 'typebox'
import { CoreUnavailable } from '../../../hosting/core-library/core-library.ts'
import type { PooledSite } from '../../../hosting/php/pool/pool.ts'
import { claimWarm } from '../../../hosting/site-directories/claim-warm.ts'
import { specialiseDirectory } from '../../../hosting/site-directories/specialise.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { durableWith, PermanentFailure } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { siteConstants, stagingAddress } from '../site.ts'
import { siteFilled } from '../wordpress/site-filled.ts'
import { installShop } from './install-shop.ts'
import {
  becomeLive,
  clearDeployError,
  creationFailed,
  directoryOf,
  type NewSiteContext,
  removeDirectory,
  siteOf,
} from './new-site.job.ts'
import { adviceForShop } from './shop-runtime.ts'

type Context<Results = unknown> = NewSiteContext<Results>

/** Creates a site that serves pages, as a copy of the golden template with its own address and owner. */
export const provisionSite = durableWith<HostServices>()({
  name: 'site.provision',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'host',
  changeableBy: 'account',
  steps: {
    home: { run: claimDirectory, undo: removeDirectory },
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

/** Known once the site has a site directory. The operation stores it, so its names stay. */
interface Claimed {
  readonly homeId: number
  readonly coreVersion: string
}

async function claimDirectory(context: Context): Promise<Claimed> {
  const { services, input } = context
  const site = await siteOf(context)
  await clearDeployError(context, site)
  const template = await services.template().catch((error) => {
    // No retry will find a source that was just missing, so the operator must provide one.
    throw error instanceof CoreUnavailable ? new PermanentFailure(error.message) : error
  })
  const kind = { ...template, database: services.databaseKindFor(site.phpVersion) }
  const directory = await services.siteDirectories.claim(
    input.siteId,
    kind,
    services.spares.directoryIds(site.phpVersion),
  )
  return { homeId: directory.id, coreVersion: template.coreVersion }
}

/** What was written into the site's own database. The site's row may have changed by the time of a later step. */
interface Written {
  readonly address: string
  /** Undefined in operations that an older Stead started. */
  readonly title?: string
}

async function writeContent(context: Context): Promise<Written> {
  const { services } = context
  const [site, directory, template] = await Promise.all([siteOf(context), directoryOf(context), services.template()])
  await services.pool.stop(site.id, 0)
  // A process that is still warming up would write while the database is replaced.
  if (!services.spares.directoryIds(site.phpVersion).includes(directory.id)) await services.spares.take(directory.id)
  const [address, title] = [stagingAddress(site.name, services.config), site.displayName]
  const onServer = await services.siteDirectories.databases.onServer(directory, template.path)
  const facts = {
    address,
    title,
    adminUsername: site.adminUsername,
    adminEmail: site.adminEmail,
    environmentType: site.environmentType,
    constants: siteConstants(site),
    now: context.now(),
  }
  await specialiseDirectory(directory.path, template.path, directory.uid, facts, onServer)
  await siteFilled(services, site.id)
  return { address, title }
}

/** Returns the site before visitors can reach it. */
async function pooledSite(context: Context<{ content: Written }>): Promise<PooledSite> {
  const [site, directory] = await Promise.all([siteOf(context), directoryOf(context)])
  const { address } = context.results.content
  return context.services.siteDirectories.phpSite(directory, { siteId: site.id, phpVersion: site.phpVersion, address })
}

async function movePhpIn(context: Context<{ content: Written }>): Promise<{ warm: boolean }> {
  return { warm: await claimWarm(context.services, await directoryOf(context), await pooledSite(context)) }
}

/** Installs the shop if one was requested. */
async function becomeShop(context: Context<{ content: Written }>): Promise<{ warning: string } | undefined> {
  const site = await siteOf(context)
  if (site.install !== 'woocommerce') return undefined
  const directory = await directoryOf(context)
  await installShop(context, await pooledSite(context), directory)
  const warning = adviceForShop(context.services, { siteDirectory: directory.path, phpVersion: site.phpVersion })
  return warning ? { warning } : undefined
}

/**
 * Requests the front page and checks its title and a stored write. It expects the title that was written, because the
 * site may have been renamed since. The write is needed because a read-only database still serves pages.
 */
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
  // Only now, so that the next spare is prepared when this site no longer waits.
  services.refill()
}

async function goLive(tx: Tx, context: Context<{ home: Claimed; content: Written }>): Promise<void> {
  const { coreVersion } = context.results.home
  const { address } = context.results.content
  await becomeLive(tx, context, { coreVersion, address })
}
