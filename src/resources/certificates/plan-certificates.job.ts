import Type from 'typebox'
import type { Tx } from '../../platform/db/database.ts'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import { enqueue, ROUTINE } from '../../platform/operations/enqueue.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { firstAccount } from '../account/public.ts'
import type { ControlServices } from '../kit/control-services.ts'
import { alertOfExpiring } from './alert-of-expiring.ts'
import { deleteName, namesOfNoSite, namesWithout, takeDueNames } from './certificate.store.ts'
import { wantCertificate } from './certificate.ts'
import { planFirstAddresses } from './first-addresses.ts'
import { ORDER_LEASE_MS, orderCertificate, orderOwnNames } from './order-certificate.job.ts'
import { ownNames } from './own-names.ts'

/** Limit for each run every five minutes, which is enough to handle 100,000 names once a day. */
const MOST = 400

/** Starts orders for names that are due: the first one, a retry, or the next certificate. */
export const planCertificates = durableWith<Pick<ControlServices, 'config'>>()({
  name: 'certificates.plan',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: { plan: { commit: plan }, alert: { commit: (tx, { now }) => alertOfExpiring(tx, now()) } },
})

async function plan(tx: Tx, { now, services }: StepContext<unknown, Pick<ControlServices, 'config'>>): Promise<void> {
  const time = now()
  await forgetOtherNames(tx, services.config)
  await orderOwnNames(tx, services.config, time)
  const isOff = services.config.edgeTlsListen === 'off'
  if (isOff && ownNames(services.config).length === 0) return
  // Domains from before TLS was turned on.
  for (const name of isOff ? [] : await namesWithout(tx, MOST)) await wantCertificate(tx, { ...name, now: time })
  await planFirstAddresses(tx, services.config, time)
  const operator = (await firstAccount(tx))?.id ?? null
  for (const { hostName, accountId } of await takeDueNames(tx, {
    now: time,
    most: MOST,
    leaseUntil: time + ORDER_LEASE_MS,
  }))
    await enqueue(tx, orderCertificate, { hostName }, { accountId: accountId ?? operator, source: ROUTINE, now: time })
}

/** Forgets names of the installation that the settings no longer contain. */
async function forgetOtherNames(tx: Tx, config: ControlServices['config']): Promise<void> {
  const wanted = ownNames(config)
  for (const hostName of await namesOfNoSite(tx)) if (!wanted.includes(hostName)) await deleteName(tx, hostName)
}

export const planCertificatesOften = schedule({
  name: 'certificates.plan',
  everyMs: 300_000,
  definition: planCertificates,
  input: () => ({}),
  options: () => ({ source: ROUTINE }),
})
