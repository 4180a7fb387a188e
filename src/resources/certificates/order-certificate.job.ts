import type { Client, Order } from 'acme-client'
import Type from 'typebox'
import { dropChallenge } from '../../dns/zones/challenges.store.ts'
import { CERTIFICATE_KEY_PURPOSE, edgeKeyPurpose } from '../../edge/tls/tls.store.ts'
import type { Tx } from '../../platform/db/database.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { durableWith, PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import { enqueue, ROUTINE } from '../../platform/operations/enqueue.ts'
import { firstAccount } from '../account/public.ts'
import type { ControlServices } from '../kit/control-services.ts'
import { authorityOf } from './account-at-authority.ts'
import {
  accountOfSite,
  changeName,
  changeServedName,
  claimName,
  findName,
  insertName,
  type StoredCertificate,
  setAcmeAccountUrl,
} from './certificate.store.ts'
import { noteFailure } from './note-failure.ts'
import { NO_SITE, ownNames } from './own-names.ts'
import { tellIssued } from './tell-of-certificate.ts'

const Input = Type.Object({ hostName: Type.String() })
type Input = Type.Static<typeof Input>
type Services = Pick<ControlServices, 'config' | 'database' | 'sealer' | 'edgeSealer'>
type Context<Results = unknown> = StepContext<Input, Services, Results>
type DueContext = Context<{ due: boolean }>

/** A name whose operation was lost is due again after this time. */
export const ORDER_LEASE_MS = 3_600_000
const RATE_LIMITED_MS = 3_600_000

/**
 * Maintains the certificate of a name: orders the first one, and the next when it is due. Everything that must not be
 * repeated is stored as soon as the authority has answered, so that an interrupted order continues where it was.
 */
export const orderCertificate = durableWith<Services>()({
  name: 'certificate.order',
  input: Input,
  on: 'control',
  changeableBy: 'account',
  attempts: 3,
  atOnce: 4,
  failed: noteFailure,
  steps: {
    claim: { commit: claim },
    due: { run: isDue },
    order: { run: order },
    prove: { run: prove },
    issue: { run: issue },
    settle: { commit: complete },
  },
})

/**
 * Starts the order outside the site's queue, because changes of its files need not wait for an authority.
 * @returns the operation
 */
export async function startOrder(
  tx: Tx,
  { hostName, siteId, now }: { readonly hostName: string; readonly siteId: number; readonly now: number },
): Promise<number> {
  return enqueue(tx, orderCertificate, { hostName }, { accountId: (await accountOfSite(tx, siteId)) ?? null, now })
}

/** Orders certificates for names of the installation that are new in the settings. */
export async function orderOwnNames(tx: Tx, config: ControlServices['config'], now: number): Promise<void> {
  for (const hostName of ownNames(config)) {
    if (!(await insertName(tx, { hostName, siteId: NO_SITE, dueAt: now + ORDER_LEASE_MS, now }))) continue
    const accountId = (await firstAccount(tx))?.id ?? null
    await enqueue(tx, orderCertificate, { hostName }, { accountId, source: ROUTINE, now })
  }
}

function claim(tx: Tx, { input, operationId }: Context): Promise<boolean> {
  return claimName(tx, input.hostName, operationId)
}

/** @throws PermanentFailure when it is due and nothing can be ordered at present */
async function isDue(context: Context<{ claim: boolean }>): Promise<boolean> {
  const { services, input, results, transaction, now } = context
  const row = results.claim ? await findName(services.database.read, input.hostName) : undefined
  if (!row) return false
  // Retries before that time get the same reason.
  if (row.not_before !== null && now() < row.not_before) throw new PermanentFailure(row.reason ?? 'It is too early')
  if (row.chain) {
    const renewAt = await renewalOf(context, row.chain)
    if (now() < renewAt) {
      await transaction((tx) => changeName(tx, input.hostName, { due_at: Math.min(renewAt, now() + DAY_MS) }))
      return false
    }
  }
  const { whyNot } = await import('./why-not.ts')
  const fault = await whyNot(services, input.hostName)
  if (fault === undefined) return true
  // The authority has not seen this failure, so the count restarts.
  await transaction((tx) => changeName(tx, input.hostName, { failures: -1 }))
  throw new PermanentFailure(fault)
}

/** Returns when the authority suggests the renewal, or else when the usual share of the lifetime is left. */
async function renewalOf(context: Context, chain: string): Promise<number> {
  const { lifeOf, suggestedRenewal, usualRenewal } = await import('../../certificates/renewal.ts')
  const usual = usualRenewal(lifeOf(chain))
  if (!context.services.config.acmeTermsAgreed) return usual
  try {
    // Sets up trust according to the settings.
    await authorityOf(context)
    // A random time that changes each day would on average be too early, so this takes the middle of the window.
    return (await suggestedRenewal(context.services.config.acmeDirectory, chain, 0.5)) ?? usual
  } catch (error) {
    context.log.warn({ err: error }, 'the authority does not provide a renewal time for a certificate')
    return usual
  }
}

/** Continues the order in progress, or creates one. */
async function order(context: DueContext): Promise<void> {
  if (!context.results.due) return
  const { services, input, transaction, now } = context
  await asking(context, async (client) => {
    const row = await nameOf(context)
    const { beginOrder, findOrder, makeKey } = await import('../../certificates/authority.ts')
    const { idOfCertificate } = await import('../../certificates/renewal.ts')
    if (row.order_url && row.order_key) {
      const begun = await findOrder(client, row.order_url)
      if (begun && begun.status !== 'invalid' && now() < endOf(begun)) return
    }
    const key = services.sealer.seal(await makeKey(), CERTIFICATE_KEY_PURPOSE)
    const replaced = row.chain === null ? undefined : idOfCertificate(row.chain)
    const { url } = await beginOrder(client, input.hostName, replaced)
    const begun = { order_url: url, order_key: key, authz_url: null, authz_expires_at: null }
    await transaction((tx) => changeName(tx, input.hostName, begun))
  })
}

/** Returns when an order expires, for an authority that does not report that it is over. */
const endOf = ({ expires }: Order): number => (expires ? Date.parse(expires) : Number.POSITIVE_INFINITY)

/** Completes the authority's challenge, and waits for the result. */
async function prove(context: DueContext): Promise<void> {
  if (!context.results.due) return
  const { signal } = context
  const { until } = await import('../../certificates/authority.ts')
  const { answerQuestion } = await import('./prove-name.ts')
  await asking(context, async (client) => {
    const row = await nameOf(context)
    const current = await client.getOrder({ url: row.order_url } as Order)
    if (current.status !== 'pending') return
    // One name has one authorization. A list of thousands would be thousands of requests.
    const first = { ...current, authorizations: current.authorizations.slice(0, 1) }
    const look = async () => (await client.getAuthorizations(first))[0]
    const authorization = await look()
    if (authorization?.status === 'pending') await answerQuestion(context, client, authorization)
    const decided = await until(look, (each) => each?.status !== 'pending', signal)
    if (decided?.status === 'valid') return
    const reason = decided?.challenges.find((each) => 'error' in each && each.error) as
      | { error?: { detail?: string } }
      | undefined
    throw await givenUp(
      context,
      `The authority could not validate the name: ${reason?.error?.detail ?? decided?.status}`,
    )
  })
}

/** @returns whether there is a new certificate */
async function issue(context: DueContext): Promise<boolean> {
  if (!context.results.due) return false
  const { input, services, transaction, signal, now } = context
  const { signingRequest, until } = await import('../../certificates/authority.ts')
  const { lifeOf } = await import('../../certificates/renewal.ts')
  const { faultOfIssued } = await import('../../certificates/issued.ts')
  await asking(context, async (client) => {
    const row = await nameOf(context)
    // Interrupted after the certificate was stored.
    if (row.order_key === null) return
    const look = () => client.getOrder({ url: row.order_url } as Order)
    const ready = await until(look, ({ status }) => status !== 'pending', signal)
    if (ready.status === 'ready') {
      const key = services.sealer.open(row.order_key, CERTIFICATE_KEY_PURPOSE)
      await client.finalizeOrder(ready, await signingRequest(input.hostName, key))
    }
    const done = await until(look, ({ status }) => status === 'valid' || status === 'invalid', signal)
    if (done.status !== 'valid')
      throw await givenUp(
        context,
        `The authority did not issue a certificate: ${(done.error as { detail?: string } | undefined)?.detail ?? 'it gave no reason'}`,
      )
    const chain = await client.getCertificate(done)
    const key = services.sealer.open(row.order_key, CERTIFICATE_KEY_PURPOSE)
    const fault = faultOfIssued(chain, { hostName: input.hostName, key, now: now() })
    if (fault) throw await givenUp(context, `The authority issued an unusable certificate: ${fault}`)
    const issuedAt = now()
    const edgeKey = services.edgeSealer.seal(key, edgeKeyPurpose(input.hostName, issuedAt))
    const kept = { chain, private_key: row.order_key, edge_key: edgeKey, order_key: null, issued_at: issuedAt }
    const life = { expires_at: lifeOf(chain).until, challenge_token: null, challenge_answer: null, told: 0 }
    await transaction((tx) => changeServedName(tx, input.hostName, { ...kept, ...life }))
  })
  return true
}

async function complete(tx: Tx, context: Context<{ claim: boolean; issue: boolean }>): Promise<void> {
  const { results, input, now } = context
  if (!results.claim) return
  await dropChallenge(tx, input.hostName, now())
  await changeName(tx, input.hostName, { reason: null, reason_at: null, failures: 0, not_before: null })
  if (!results.issue) return
  const chain = (await findName(tx, input.hostName))?.chain
  await changeName(tx, input.hostName, {
    due_at: Math.min(now() + DAY_MS, chain ? await usualRenewalOf(chain) : Infinity),
  })
  await tellIssued(tx, context, input.hostName)
}

/** Returns the usual renewal time. A certificate that lives for a day cannot wait a day for the next check. */
async function usualRenewalOf(chain: string): Promise<number> {
  const { lifeOf, usualRenewal } = await import('../../certificates/renewal.ts')
  return Math.ceil(usualRenewal(lifeOf(chain)))
}

/** Gives up an order, so that the next one starts from the beginning. */
async function givenUp({ transaction, input }: Context, reason: string): Promise<PermanentFailure> {
  await transaction((tx) => changeName(tx, input.hostName, { order_key: null }))
  return new PermanentFailure(reason)
}

async function nameOf({ services, input }: Context): Promise<StoredCertificate> {
  const row = await findName(services.database.read, input.hostName)
  if (!row) throw new PermanentFailure(`${input.hostName} no longer needs a certificate`)
  return row
}

/** Calls the authority, and respects the pause that it demands. */
async function asking(context: Context, work: (client: Client) => Promise<void>): Promise<void> {
  const { AccountUnknown, RateLimited } = await import('../../certificates/authority.ts')
  try {
    await work(await authorityOf(context)).catch(async (error) => {
      if (!(error instanceof AccountUnknown)) throw error
      // The authority was set up again. The same key registers there, and earlier orders are gone with the account.
      await context.transaction(async (tx) => {
        await setAcmeAccountUrl(tx, context.services.config.acmeDirectory, null)
        await changeName(tx, context.input.hostName, {
          order_url: null,
          order_key: null,
          authz_url: null,
          authz_expires_at: null,
        })
      })
      context.log.warn({ err: error }, 'the authority no longer knows the account: registering again')
      await authorityOf(context)
      throw new Error(`${error.message}. Stead registered again and will retry.`, { cause: error })
    })
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error
    const until = context.now() + (error.retryAfterMs ?? RATE_LIMITED_MS)
    await context.transaction((tx) => changeName(tx, context.input.hostName, { not_before: until }))
    throw new PermanentFailure(error.message)
  }
}
