import Type from 'typebox'
import type { Config } from '../../config.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Database, Tx } from '../../platform/db/database.ts'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { endAlert, raiseAlert } from '../alerts/public.ts'
import { certificateState, createComesBack, marksHere } from '../certificates/public.ts'
import { aboutSite, changeBy } from '../kit/change.ts'
import { holdSite } from '../sites/public.ts'
import { actions } from './actions.ts'
import { type DomainCheck, type DueDomain, expectChecks, findCheck, storeCheck, takeDueChecks } from './check.store.ts'
import { lookAtDomain } from './look-at-domain.ts'

/** Interval between two checks of a domain, give or take a tenth. */
const EVERY_MS = 600_000
/** How many domains are checked in parallel. */
const AT_ONCE = 20
const BATCH = 100

interface Looking {
  readonly database: Database
  readonly config: Config
  readonly sealer: Sealer
  readonly edgeKey: string
}

/** Checks one domain on request. It runs outside the site's own queue, because it does not touch the site. */
export const checkDomain = durableWith<Looking>()({
  name: 'domain.check',
  input: Type.Object({ siteId: Type.Integer(), hostName: Type.String() }),
  on: 'control',
  changeableBy: 'account',
  attempts: 2,
  steps: {
    look: {
      async run(context) {
        const { services, input } = context
        const due = await findCheck(services.database.read, input.siteId, input.hostName)
        if (due) await look(context, due)
      },
    },
  },
})

/** Checks all domains that are due. */
export const checkDomains = durableWith<Looking>()({
  name: 'domains.check',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 2,
  steps: {
    look: { run: lookAtDue },
  },
})

export const checkDomainsOften = schedule({
  name: 'domains.check',
  everyMs: 60_000,
  definition: checkDomains,
  input: () => ({}),
})

type Context = Pick<StepContext, 'now' | 'signal' | 'transaction'> & { readonly services: Looking }

async function lookAtDue(context: Context): Promise<void> {
  const { transaction, signal, now } = context
  while ((await transaction((tx) => expectChecks(tx, now(), BATCH))) === BATCH) signal.throwIfAborted()
  for (;;) {
    signal.throwIfAborted()
    const { due, found } = await transaction((tx) => takeDueChecks(tx, now(), later, AT_ONCE))
    if (found === 0) return
    await Promise.all(due.map((each) => look(context, each)))
  }
}

/** Varies the interval, so that a thousand domains that were added together do not stay together forever. */
const later = (now: number): number => now + Math.round(EVERY_MS * (0.9 + Math.random() * 0.2))

async function look({ services, transaction, now }: Context, due: DueDomain): Promise<void> {
  const { database, config, edgeKey, sealer } = services
  const { hostName, siteId } = due
  const certificate = await certificateState(database.read, hostName)
  const asker = { edgeKey, siteId }
  const comesBack = createComesBack({ config, markHere: marksHere(sealer) })
  const seen = await lookAtDomain(hostName, config, certificate, now(), comesBack, asker)
  await transaction((tx) => remember(tx, due, seen, now()))
}

/** Logs changes since the last check for the site, with the reason, and why a new domain does not lead there yet. */
async function remember(tx: Tx, due: DueDomain, seen: DomainCheck, now: number): Promise<void> {
  const { siteId, hostName, before } = due
  const site = await holdSite(tx, siteId)
  if (!site) return
  await storeCheck(tx, due, seen, now)
  await alertIfElsewhere(tx, due, seen, now)
  if (seen.isHealthy === (before?.isHealthy ?? true)) return
  const { record } = changeBy(tx, { actor: 'systems', about: aboutSite(site), now })
  if (seen.isHealthy) await record({ action: actions['domain.healthy'], message: `${hostName} now points to the site` })
  else {
    const message = `${hostName} ${before ? 'no longer points to the site' : 'does not point to the site yet'}: ${seen.reason}`
    await record({ action: actions['domain.unhealthy'], message })
  }
}

/** Two checks in a row must find that a domain leads elsewhere that has led here before. */
async function alertIfElsewhere(tx: Tx, due: DueDomain, seen: DomainCheck, now: number): Promise<void> {
  const cause = { kind: 'domain_elsewhere', siteId: due.siteId, subject: due.hostName } as const
  if (seen.isDnsConfirmed) await endAlert(tx, cause, now)
  else if (due.before?.isDnsConfirmed === false && due.confirmedAt !== null)
    await raiseAlert(tx, { ...cause, detail: seen.reason ?? 'Its DNS records lead elsewhere' }, now)
}
