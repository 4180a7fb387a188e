import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { CoreUnavailable } from '../../../hosting/core-library/core-library.ts'
import { frontPageFault } from '../../../hosting/php/front-page.ts'
import type { PooledSite } from '../../../hosting/php/pool/pool.ts'
import { newSalts } from '../../../hosting/php/wp-config.ts'
import {
  type AddressChange,
  contentPlace,
  type SitePlace,
  withSnapshot,
} from '../../../hosting/site-database/database-content.ts'
import { rewriteAddress } from '../../../hosting/site-database/rewrite-addresses.ts'
import type { SiteDirectory } from '../../../hosting/site-directories/site-directory.ts'
import {
  type ConfigConstants,
  changeWpConfig,
  editWpConfig,
  withConstants,
} from '../../../hosting/site-files/platform/wp-config-file.ts'
import { moveMadeFiles } from '../../../hosting/site-files/stage/made-files.ts'
import type { Database } from '../../../platform/db/database.ts'
import { durableWith, PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import { needsRights } from '../../access/still-allowed.ts'
import type { HostServices } from '../../kit/host-services.ts'
import type { StoredContent } from '../../kit/site-content.ts'
import { addressesOf, mainAddressesOf, movedTo } from '../addresses/site-addresses.ts'
import {
  becomeLive,
  clearDeployError,
  creationFailed,
  directoryOf,
  removeDirectory,
  siteOf,
} from '../create/new-site.job.ts'
import { fitNetwork } from '../network/fit-network.ts'
import { findSite } from '../site.store.ts'
import { type Site, siteConstants, stagingAddress } from '../site.ts'
import { type ContentState, contentState } from '../switches/closing.store.ts'
import { siteFilled } from '../wordpress/site-filled.ts'

const CloneOrder = Type.Object({
  siteId: Type.Integer(),
  sourceId: Type.Integer(),
  /** Backups of the source, when the clone is created on another host. */
  backups: Type.Optional(Type.Array(Type.Integer())),
})

type Context<Results = unknown> = StepContext<Type.Static<typeof CloneOrder>, HostServices, Results>

/**
 * Clones a site: copies another site's content, with its own address and keys, until it serves pages. The source stays
 * online meanwhile.
 */
export const cloneSiteJob = durableWith<HostServices>()({
  name: 'site.clone',
  input: CloneOrder,
  on: 'host',
  changeableBy: 'account',
  permission: needsRights(({ sourceId }) => [{ siteId: sourceId, capability: 'clone the site' }]),
  readsBackupsOf: ({ sourceId, backups }) => (backups ? [sourceId] : []),
  steps: {
    home: { run: claimDirectory, undo: removeDirectory },
    content: { run: copyContent, weight: 20 },
    made_files: { run: moveMade },
    config: { run: writeConfig },
    network: { run: fitItsNetwork },
    answer: { run: seeItAnswer, weight: 2 },
    live: {
      commit: (tx, context: Context<{ home: Claimed; content: Copied }>) =>
        becomeLive(tx, context, { ...context.results.home, address: context.results.content.address }),
    },
  },

  failed: (tx, context) =>
    creationFailed(
      tx,
      context,
      context.canceled ? 'The cloning of the site was canceled' : `The site could not be cloned: ${context.error}`,
    ),
})

interface Claimed {
  /** The source's version, because another one would change the database. */
  readonly coreVersion: string
}

async function claimDirectory(context: Context): Promise<Claimed> {
  const { services, input, signal } = context
  const site = await siteOf(context)
  const { directory: source } = await sourceOf(services, input)
  await clearDeployError(context, site)
  const template = await services.template().catch((error) => {
    throw error instanceof CoreUnavailable ? new PermanentFailure(error.message) : error
  })
  const { coreVersion, database } = source
  const stored = await storedContent(services, input)
  if (stored) await services.ensureCore(coreVersion, stored.core, signal)
  const directory = await services.siteDirectories.claim(site.id, { ...template, coreVersion, database }, [])
  // A spare may have been warmed in it.
  await services.spares.take(directory.id)
  services.refill()
  return { coreVersion }
}

/** @throws PermanentFailure when the source was deleted, or moved away before it was copied */
async function sourceOf(
  services: HostServices,
  { sourceId, backups }: Context['input'],
): Promise<{ site: Site; directory: SiteDirectory }> {
  const site = await findSite(services.database.read, sourceId)
  const directory = await services.siteDirectories.ofSite(sourceId)
  if (!site || !directory) throw new PermanentFailure('The source site was deleted')
  if (!backups && site.hostId !== services.hostId) throw new PermanentFailure('The source site is on another host')
  return { site, directory }
}

/** Opens the backups of a source on another host. */
async function storedContent(
  services: HostServices,
  { sourceId, backups }: Context['input'],
): Promise<StoredContent | undefined> {
  if (!backups) return undefined
  for (const { openCopied } of services.siteHooks) if (openCopied) return openCopied(services, sourceId, backups)
  throw new PermanentFailure('Nothing opens the backups of the source')
}

/** Address that the clone's own content uses from now on. */
interface Copied {
  readonly address: string
  /** Addresses of the source, none of which may remain. */
  readonly others: string[]
}

/**
 * Copies first the database, as of one moment, then the files, because files are uploaded before the database mentions
 * them. Repeats both if a restore or sync replaced the content of an open source meanwhile, because a mix of both
 * versions would match no state that the site ever had.
 */
async function copyContent(context: Context): Promise<Copied> {
  const { services, input } = context
  const site = await siteOf(context)
  const { site: source, directory: sourceDirectory } = await sourceOf(services, input)
  const to = contentPlace(site.id, await directoryOf(context))
  await services.pool.stop(site.id, 0)
  const address = stagingAddress(site.name, services.config)
  const others = await addressesOf(services.database.read, source, services.config)
  const main = source.hasMultisite ? await mainAddressesOf(services.database.read, source, services.config) : others
  const changes = movedTo(address, main)
  const stored = await storedContent(services, input)
  if (stored) await copyStored(context, stored, to, changes)
  else await copyOpen(context, contentPlace(source.id, sourceDirectory), to, changes)
  await services.siteDatabase.switch(to)
  await services.siteDatabase.cleanUp(to)
  return { address, others: others.filter((each) => each !== address) }
}

async function stateOf(database: Database, siteId: number): Promise<ContentState> {
  const state = await contentState(database.read, siteId)
  if (!state) throw new PermanentFailure('The source site was deleted')
  return state
}

/** @throws when a restore or sync replaced the content of the source meanwhile */
async function copyOpen(
  { services, signal, progressBytes }: Context,
  from: SitePlace,
  to: SitePlace,
  changes: readonly AddressChange[],
): Promise<void> {
  const { siteFiles, siteDatabase, database } = services
  const before = await stateOf(database, from.siteId)
  if (before.isClosed) throw new Error('Another operation is using the source site')
  const files = await siteFiles.size(from)
  let loaded = 0
  await withSnapshot(siteDatabase, from, async (snapshot) => {
    const onProgress = (done: number) => {
      loaded = done
      progressBytes(done, Math.max(done, snapshot.estimatedBytes) + files.bytes)
    }
    await siteDatabase.load(to, snapshot.dump({ signal }), { changes, signal, onProgress })
  })
  const onProgress = (done: number) => progressBytes(loaded + done, loaded + Math.max(done, files.bytes))
  await siteFiles.copy(from, to, { signal, onProgress })
  const after = await stateOf(database, from.siteId)
  if (after.changes !== before.changes) throw new Error('The source site was overwritten during the copy')
}

/** Backups never change, so they need no such look. */
async function copyStored(
  { services, signal, progressBytes }: Context,
  from: StoredContent,
  to: SitePlace,
  changes: readonly AddressChange[],
): Promise<void> {
  const { siteFiles, siteDatabase } = services
  const fileBytes = await from.fileBytes()
  let loaded = 0
  await from.withDatabase((dump, bytes) => {
    const onProgress = (done: number) => {
      loaded = done
      progressBytes(done, Math.max(done, bytes) + fileBytes)
    }
    return siteDatabase.load(to, dump, { changes, signal, onProgress })
  })
  const onProgress = (done: number) => progressBytes(loaded + done, loaded + Math.max(done, fileBytes))
  const scope = { paths: [''] }
  await siteFiles.prepare(to, from.files(scope), { scope, signal, onProgress })
  await siteFiles.switch(to)
  await siteFiles.cleanUp(to)
}

/** Changes what plugins derived from the database to the clone's address. Its PHP does not run yet. */
async function moveMade(context: Context<{ content: Copied }>): Promise<void> {
  const { services, signal, results } = context
  const directory = contentPlace(context.input.siteId, await directoryOf(context))
  const { address, others } = results.content
  await moveMadeFiles(services.siteFiles, directory, movedTo(address, others), signal)
}

/**
 * Writes the clone's own keys, so that logins at the source do not work there, and its address if the configuration
 * names one.
 */
async function writeConfig(context: Context<{ content: Copied }>): Promise<void> {
  const site = await siteOf(context)
  const directory = await directoryOf(context)
  const { address, others } = context.results.content
  // With the source's settings, the clone would write into the source.
  const ownDatabase = await context.services.siteDirectories.databases.constants(directory)
  await editWpConfig(directory.path, directory.uid, (text) =>
    withConstants(rewriteAddress(text, movedTo(address, others)), {
      ...ownDatabase,
      ...newSalts(randomBytes),
      ...siteConstants(site),
      ...ofThoseThere(text, { DOMAIN_CURRENT_SITE: address, WP_CACHE_KEY_SALT: `${site.name}-${site.id}:` }),
    }),
  )
  await siteFilled(context.services, site.id)
}

/** Returns the constants that the source has too: a network's address, and what separates sites in a shared cache. */
const ofThoseThere = (text: string, constants: ConfigConstants): ConfigConstants =>
  Object.fromEntries(Object.entries(constants).filter(([name]) => text.includes(name)))

/** Turns blogs that had domains into folders of the clone, because the domains are the source's. */
async function fitItsNetwork(context: Context<{ content: Copied }>): Promise<void> {
  const { services, results } = context
  const [site, directory] = await Promise.all([siteOf(context), directoryOf(context)])
  if (!site.hasMultisite) return
  const { address, others } = results.content
  const moved = await fitNetwork(services, pooledSite(services, site, directory, address), directory, {
    isCopy: true,
    others,
  })
  if (moved > 0 && (await changeWpConfig(directory.path, directory.uid, { SUBDOMAIN_INSTALL: false })))
    await services.pool.restart(site.id)
}

function pooledSite(
  services: HostServices,
  { id: siteId, phpVersion }: Site,
  directory: SiteDirectory,
  address: string,
): PooledSite {
  return services.siteDirectories.phpSite(directory, { siteId, phpVersion, address })
}

async function seeItAnswer(context: Context<{ content: Copied }>): Promise<void> {
  const { services, signal } = context
  const [site, directory] = await Promise.all([siteOf(context), directoryOf(context)])
  const { address, others } = context.results.content
  const pooled = pooledSite(services, site, directory, address)
  const { home: said } = await services.pool.runTask(pooled, 'check-copy', {})
  if (
    said
      .replace(/^https?:\/\//i, '')
      .split('/')[0]
      ?.toLowerCase() !== address
  )
    throw new PermanentFailure(
      `WordPress uses ${said} as its address instead of ${address}. Check the plugins and wp-config.php of the source`,
    )
  const fault = await frontPageFault(services.pool, pooled, { signal, others })
  if (fault) throw new Error(`The clone does not respond: ${fault}`)
}
