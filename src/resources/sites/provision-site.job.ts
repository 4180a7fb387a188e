import Type from 'typebox'
import { CoreUnavailable } from '../../hosting/core-library/core-library.ts'
import type { Home } from '../../hosting/homes/homes.ts'
import { specialiseHome } from '../../hosting/homes/specialise.ts'
import type { PooledSite } from '../../hosting/php/pool.ts'
import type { Tx } from '../../platform/db/database.ts'
import { durableWith, PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { aboutSite, changeBy, changeOfJob } from '../change.ts'
import type { HostServices } from '../host-services.ts'
import { measureSite } from '../statistics/measure-sites.job.ts'
import { actions, events } from './actions.ts'
import { configureSite } from './configure-site.job.ts'
import { changeSite, findSite, holdSite } from './site.store.ts'
import { type Site, siteConstants, stagingAddress } from './site.ts'

type Context<Results = unknown> = StepContext<{ siteId: number }, HostServices, Results>

/** Statistics of a new site are there within a minute. */
const MEASURED_AFTER_MS = 20_000

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
    answer: { run: seeItAnswer, weight: 2 },
    live: { commit: goLive },
  },

  async failed(tx, context) {
    const message = context.canceled
      ? 'The installation of the site was canceled'
      : `The site could not be installed: ${context.error}`
    await changeSite(tx, context.input.siteId, { deployError: withWayOut(message, context) }, context.now())
    if (context.canceled) return
    await changeOfJob(tx, context).record({ action: actions['site.deploy_failed'], message })
  },
})

/** What an owner can do about a site that was not made. */
const withWayOut = (message: string, { operationId }: { operationId: number }) =>
  `${message.replace(/\.$/, '')}. Try again by POST /v1/operations/${operationId}/retry, or delete the site: its place in the plan is free then.`

async function siteOf({ services, input }: Context): Promise<Site> {
  const site = await findSite(services.database.read, input.siteId)
  if (!site) throw new PermanentFailure('The site was deleted')
  return site
}

/** What is known once the site has a home. */
interface Claimed {
  readonly homeId: number
  readonly coreVersion: string
}

async function claimHome(context: Context): Promise<Claimed> {
  const { services, input } = context
  const site = await siteOf(context)
  // a retry: visitors are told again to wait
  if (site.deployError !== null)
    await context.transaction((tx) => changeSite(tx, site.id, { deployError: null }, context.now()))
  if (site.install !== 'wordpress')
    throw new PermanentFailure(`The install option ${site.install} needs a plugin that cannot be installed yet`)
  const template = await services.template().catch((error) => {
    // no attempt will find a source that was not there a moment ago; the operator has to give one
    throw error instanceof CoreUnavailable ? new PermanentFailure(error.message) : error
  })
  const home = await services.homes.claim(input.siteId, template, services.spares.homeIds(site.phpVersion))
  return { homeId: home.id, coreVersion: template.coreVersion }
}

async function homeOf({ services, input }: Context): Promise<Home> {
  const home = await services.homes.ofSite(input.siteId)
  if (!home) throw new Error('The home of the site is gone')
  return home
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
  await specialiseHome(home.path, template.path, home.uid, {
    address,
    title,
    adminUsername: site.adminUsername,
    adminEmail: site.adminEmail,
    environmentType: site.environmentType,
    constants: siteConstants(site),
    now: context.now(),
  })
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
  await spare.moveIn({ address: site.address })
  await services.pool.adopt({ ...site, siteId: input.siteId }, spare)
  return { warm: true }
}

/** The front page with the title that was written (the site may have been renamed since), and a write that is kept: a database that cannot be written answers pages all the same. */
async function seeItAnswer(context: Context<{ content: Written }>): Promise<void> {
  const { services } = context
  const { title: expected } = context.results.content
  const { title } = await services.pool.runTask(await pooledSite(context), 'check-site', {})
  if (expected !== undefined && title !== expected) throw new Error('The first page has not the title of the site')
  // not before: the next spare is made while nobody waits for this site
  services.refill()
}

async function goLive(tx: Tx, context: Context<{ home: Claimed; content: Written }>): Promise<void> {
  const { coreVersion } = context.results.home
  const { address } = context.results.content
  const site = await holdSite(tx, context.input.siteId)
  if (!site) throw new PermanentFailure('The site was deleted')
  const now = context.now()
  await changeSite(tx, site.id, { state: 'live', coreVersion, writtenAddress: address }, now)
  const change = changeBy(tx, { actor: 'systems', about: aboutSite(site), now })
  for (const { live } of context.services.siteHooks) await live?.(tx, { ...site, state: 'live' }, change)
  // its network is made when it answers already
  if (site.hasMultisite) await change.start(configureSite, { siteId: site.id })
  // not in the site's own queue, and not in the way of its first visitors
  await enqueue(tx, measureSite, { siteId: site.id }, { hostId: site.hostId, afterMs: MEASURED_AFTER_MS })
  const event = { type: events.site_created, data: { name: site.name } }
  await change.record({ action: actions['site.deployed'], message: `Site ${site.name} is live`, event })
}

/** Takes back all that the steps did: PHP runs in the home. */
async function removeHome(context: Context): Promise<void> {
  const { services, input } = context
  await services.pool.stop(input.siteId, 0)
  const home = await services.homes.ofSite(input.siteId)
  if (!home) return
  await services.spares.take(home.id)
  await services.homes.remove(home)
}
