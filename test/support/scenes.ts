/** What problem cases of several resources prepare. */

import type { Tx } from '../../src/platform/db/database.ts'
import { enqueue } from '../../src/platform/operations/enqueue.ts'
import { firstAccount, setPlan } from '../../src/resources/account/account.store.ts'
import { zoneIn } from '../../src/resources/dns/dns.fixture.ts'
import { MOST_DOMAINS } from '../../src/resources/dns/site-hosts.ts'
import { insertRecords } from '../../src/resources/dns/zone.store.ts'
import { operationIn } from '../../src/resources/operations/operations.fixture.ts'
import { putRoute } from '../../src/resources/sites/addresses/route.store.ts'
import type { SiteState } from '../../src/resources/sites/site.ts'
import { configureSite } from '../../src/resources/sites/switches/configure-site.job.ts'
import type { Example, Scene } from './samples.ts'

/** An instance without hosts. See `problems.test.ts`. */
export const EMPTY_DATACENTER = 'DFW'

export const write = <Result>({ api }: Scene, work: (tx: Tx) => Promise<Result>) => api.database.transaction(work)

export const plan = (name: string) => (scene: Scene) => write(scene, (tx) => setPlan(tx, scene.owner.accountId, name))

export const siteIs =
  (values: {
    state?: SiteState
    edge_cache?: 0
    multisite?: 1
    staging?: 1
    host_id?: null
    datacenter_code?: string
  }) =>
  (scene: Scene) =>
    write(scene, (tx) => tx.updateTable('sites').set(values).where('id', '=', scene.siteId).execute())

export const friendHas = (roles: string) => (scene: Scene) =>
  write(scene, (tx) => tx.updateTable('collaborators').set({ roles }).where('id', '=', scene.collaboratorId).execute())

export const moreSites = (count: number) => async (scene: Scene) => {
  for (let index = 0; index < count; index++) await scene.api.site(scene.owner, `more-${scene.number}-${index}`)
}

export const friend = (scene: Scene) => scene.friend

export const operationThatHas =
  (state: 'queued' | 'succeeded' | 'failed', type = configureSite) =>
  async (scene: Scene) => ({
    params: { id: await operationIn(state, scene, type) },
  })

/** An operation that only its account may change, whatever the roles of collaborators. */
export async function isProvisioning(scene: Scene): Promise<void> {
  const ofSite = (tx: Tx) => tx.updateTable('operations').where('site_id', '=', scene.siteId)
  await write(scene, (tx) => ofSite(tx).set({ type: 'site.provision' }).execute())
}

/** Creates a zone of the owner, named after the scene, with a record `www` and others. */
export async function inOwnZone(
  scene: Scene,
  body: Record<string, unknown>,
  { name = 'note', type = 'TXT', count = 1 }: { name?: string; type?: 'TXT' | 'CNAME'; count?: number } = {},
): Promise<Example> {
  const { accountId } = scene.owner
  const { zone } = await zoneIn(scene.api, { accountId, siteId: scene.siteId, name: `scene-${scene.number}.test` })
  const blank = { priority: null, weight: null, port: null, ttl: 3600, siteId: null }
  const drafts = Array.from({ length: count }, (_, at) => ({ ...blank, type, name, value: `text-${at}` }))
  await write(scene, (tx) => insertRecords(tx, zone, drafts, 1))
  return { params: { zone_id: zone }, body }
}

/** Their zone belongs to the installation. Its operator owns it, and they may read it. */
export async function zoneOfOperator(scene: Scene): Promise<unknown> {
  const ofScene = await scene.api.database.read
    .selectFrom('zones')
    .select(['id', 'name'])
    .where('account_id', '=', scene.owner.accountId)
    .executeTakeFirstOrThrow()
  const operator = await firstAccount(scene.api.database.read)
  const named = (name: string) =>
    write(scene, (tx) => tx.updateTable('zones').set({ name }).where('id', '=', ofScene.id).execute())
  await named('ns1.localhost')
  await write(scene, (tx) =>
    tx.updateTable('zones').set({ account_id: operator?.id }).where('id', '=', ofScene.id).execute(),
  )
  // The next case needs the name.
  return () => named(ofScene.name)
}

export async function takeHostName(scene: Scene): Promise<unknown> {
  const other = await scene.api.site(scene.owner, `other-${scene.number}`)
  return write(scene, (tx) => putRoute(tx, other, `taken.scene-${scene.number}.test`, 0, true))
}

export function fillDomains(scene: Scene): Promise<unknown> {
  const names = Array.from({ length: MOST_DOMAINS }, (_, at) => `of-${at}.scene-${scene.number}.example.com`)
  return write(scene, async (tx) => {
    for (const name of names) await putRoute(tx, scene.siteId, name, 0, true)
  })
}

/**
 * Of the site, of the account, and of the operator.
 * @returns a function that removes the operator's
 */
export async function fillOperations(scene: Scene): Promise<() => Promise<unknown>> {
  const target = { accountId: scene.owner.accountId, hostId: 1, runAt: Date.now() + 86_400_000 }
  const input = { siteId: scene.siteId }
  const operator = await write(scene, async (tx) => {
    const accountId = (await firstAccount(tx))?.id ?? null
    // One more than the limit, because a removal that is put off does not count itself.
    for (let index = 0; index <= 100; index++) {
      await enqueue(tx, configureSite, input, { ...target, siteId: scene.siteId })
      await enqueue(tx, configureSite, input, target)
      await enqueue(tx, configureSite, input, { ...target, accountId })
    }
    return accountId
  })
  return () =>
    write(scene, (tx) =>
      tx.deleteFrom('operations').where('type', '=', configureSite.name).where('account_id', '=', operator).execute(),
    )
}
