import Type from 'typebox'
import type { Config } from '../../config.ts'
import { textsAt } from '../../dns/wire/text-records.ts'
import type { Database, Tx } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import { ROUTINE } from '../../platform/operations/enqueue.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import {
  checkHost,
  domainsOfSite,
  dropZone,
  insertZone,
  labelIn,
  recordsOfZone,
  removeSiteHost,
  sitesOfZone,
  type Zone,
  zoneByName,
  zoneOfOther,
} from '../dns/public.ts'
import { setDnssec } from '../dnssec/public.ts'
import { aboutSite, changeBy } from '../kit/change.ts'
import { deleteDomainRoute, findSite, holdSite, type Site } from '../sites/public.ts'
import { addHostToSite } from './add-host.ts'
import { forgetCheck } from './check.store.ts'
import { findClaim, takeDueClaims } from './claim.store.ts'
import { type Claim, recordNameOf } from './claim.ts'
import { hostNameOf } from './domain.ts'
import { endClaim } from './end-claim.ts'

interface Services {
  readonly database: Database
  readonly config: Config
}

type Context = StepContext<unknown, Services>

/** How many claims are checked together. */
const BATCH = 20
/** The time until the next attempt when the name servers of a claim did not answer. */
const AGAIN_MS = 900_000
/** A claim whose name servers do not answer ends after this time. */
const PATIENCE_MS = 86_400_000

/** Moves the domains that were claimed a day ago and whose proof still exists. */
export const completeClaims = durableWith<Services>()({
  name: 'domains.settle_claims',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 2,
  steps: { settle: { run: completeDue } },
})

export const completeClaimsOften = schedule({
  name: 'domains.settle_claims',
  everyMs: 300_000,
  definition: completeClaims,
  input: () => ({}),
  options: () => ({ source: ROUTINE }),
})

async function completeDue(context: Context): Promise<void> {
  const { transaction, signal, now, log } = context
  for (;;) {
    signal.throwIfAborted()
    const due = await transaction((tx) => takeDueClaims(tx, now(), now() + AGAIN_MS, BATCH))
    if (due.length === 0) return
    const settled = await Promise.allSettled(due.map((claim) => completeClaim(context, claim)))
    signal.throwIfAborted()
    for (const each of settled)
      if (each.status === 'rejected') log.error({ err: each.reason }, 'could not complete a claim')
  }
}

async function completeClaim(context: Context, claim: Claim): Promise<void> {
  const { transaction, services, now } = context
  const end = (why: string) => transaction((tx) => endClaim(tx, claim, { why, now: now() }))
  const record = recordNameOf(claim.zone)
  const texts = await textsAt(record, services.config.resolvers).catch((error: Error) => error.message)
  if (typeof texts === 'string') return now() > claim.movesAt + PATIENCE_MS ? end(texts) : undefined
  if (!texts.includes(claim.value)) return end(`the TXT record ${record} is missing`)
  try {
    const why = await transaction((tx) => move(tx, claim, { config: services.config, now: now() }))
    if (why !== undefined) await end(why)
  } catch (error) {
    // Why the claimed name is no longer allowed.
    if (!(error instanceof Problem)) throw error
    await end(error.message.replace(/^name: /, '').replace(/\.$/, ''))
  }
}

interface Moving {
  readonly config: Config
  readonly now: number
}

/**
 * Moves a zone to the claimant, with all consequences, in one transaction.
 * @returns why it did not move, as a part of a sentence
 * @throws Problem with the reason if the host name is not allowed
 */
async function move(tx: Tx, claim: Claim, { config, now }: Moving): Promise<string | undefined> {
  const found = await zoneByName(tx, claim.zone)
  // Sites are held before zones, everywhere.
  const ids = new Set([claim.siteId, ...(found ? await sitesOfZone(tx, found.id) : [])])
  const sites = new Map<number, Site | undefined>()
  for (const id of [...ids].sort((a, b) => a - b)) sites.set(id, await holdSite(tx, id))
  const other = await zoneOfOther(tx, claim.accountId, claim.zone)
  // Another process ends the claim at this very moment, or has.
  if (!(await findClaim(tx, claim.id))) return undefined
  const site = sites.get(claim.siteId)
  if (!site || site.accountId !== claim.accountId) return 'the site was deleted'
  if (other && other.accountId !== claim.holderId) return 'a third account got the domain in the meantime'
  if (other) await takeFromHolder(tx, other, { sites, config, now })
  const zone = await insertZone(tx, claim.accountId, claim.zone, now)
  const host = { site, zone, name: labelIn(claim.zone, claim.hostName) }
  const change = changeBy(tx, { actor: 'systems', about: aboutSite(site), now })
  const context = { tx, config, now, caller: { accountId: claim.accountId }, ...change }
  await checkHost(context, host)
  const hasIt = (await domainsOfSite(tx, site.id)).some((record) => hostNameOf(record) === claim.hostName)
  if (!hasIt) await addHostToSite(context, host)
  await endClaim(tx, claim, { now })
  return undefined
}

async function takeFromHolder(
  tx: Tx,
  zone: Zone,
  { sites, config, now }: Moving & { readonly sites: ReadonlyMap<number, Site | undefined> },
): Promise<void> {
  const names = Map.groupBy(await recordsOfZone(tx, zone.id), ({ siteId, name }) => `${siteId ?? ''} ${name}`)
  for (const [record] of names.values()) {
    if (!record || record.siteId === null) continue
    const { siteId, name } = record
    const site = sites.get(siteId) ?? (await findSite(tx, siteId))
    if (site && !sites.has(siteId)) throw new Error(`${zone.name} got another site during the move`)
    if (!site) {
      // A site in the trash must not have it when it is recovered.
      await deleteDomainRoute(tx, siteId, hostNameOf(record))
      continue
    }
    await removeSiteHost(
      { tx, config, now, ...changeBy(tx, { actor: 'systems', about: aboutSite(site), now }) },
      { site, zone, name },
    )
    await forgetCheck(tx, { siteId: site.id, hostName: hostNameOf(record), now })
  }
  await setDnssec(tx, zone.id, 'off', null)
  await dropZone(tx, zone.id, now)
}
