import Type from 'typebox'
import type { Tx } from '../../platform/db/database.ts'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import { enqueue, ROUTINE } from '../../platform/operations/enqueue.ts'
import { schedule } from '../../platform/operations/schedules.ts'
import type { ControlServices } from '../control-services.ts'
import { namesWithout, takeDueNames } from './certificate.store.ts'
import { wantCertificate } from './certificate.ts'
import { LEASE_MS, orderCertificate } from './order-certificate.job.ts'

/** In five minutes: 100,000 names are all looked after once a day. */
const MOST = 400

/** Asks for work on names whose time has come: the first order, another try, the next certificate. */
export const planCertificates = durableWith<Pick<ControlServices, 'config'>>()({
  name: 'certificates.plan',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: { plan: { commit: plan } },
})

async function plan(tx: Tx, { now, services }: StepContext<unknown, Pick<ControlServices, 'config'>>): Promise<void> {
  if (services.config.edgeTlsListen === 'off') return
  const time = now()
  // those that were there before there was TLS
  for (const name of await namesWithout(tx, MOST)) await wantCertificate(tx, { ...name, now: time })
  for (const { hostName, accountId } of await takeDueNames(tx, { now: time, most: MOST, leaseUntil: time + LEASE_MS }))
    await enqueue(tx, orderCertificate, { hostName }, { accountId, source: ROUTINE, now: time })
}

export const planCertificatesOften = schedule({
  name: 'certificates.plan',
  everyMs: 300_000,
  definition: planCertificates,
  input: () => ({}),
  options: () => ({ source: ROUTINE }),
})
