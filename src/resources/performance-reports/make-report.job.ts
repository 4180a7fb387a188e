import Type from 'typebox'
import { MeasureImpossible } from '../../hosting/page-measure/measure-page.ts'
import type { Tx } from '../../platform/db/database.ts'
import { durableWith, PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import { changeOfJob } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import { findSite, siteAddress } from '../sites/public.ts'
import { actions, events } from './actions.ts'
import { type Measurement, readMeasurement } from './measured.ts'
import { insertReport } from './report.store.ts'
import { auditNames, type Device, opportunityAudits, THUMBNAIL_AUDIT } from './report.ts'

interface Order {
  siteId: number
}
type Context<Results = unknown> = StepContext<Order, HostServices, Results>

/** Visits the front page twice with a browser. A host creates one report at a time, at low priority. */
export const makeReport = durableWith<HostServices>()({
  name: 'site.make_performance_report',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'host',
  changeableBy: { site: 'manage performance' },
  attempts: 2,
  atOnce: 1,
  // The next one follows at its time.
  yields: async () => true,
  steps: {
    desktop: { run: (context: Context) => measure(context, 'desktop'), weight: 10 },
    mobile: { run: (context: Context) => measure(context, 'mobile'), weight: 10 },
    store: { commit: store },
  },
})

const audits = [...Object.values(auditNames), ...opportunityAudits, THUMBNAIL_AUDIT]

async function measure({ services, input, signal }: Context, device: Device): Promise<Measurement> {
  const site = await findSite(services.database.read, input.siteId)
  if (site?.state !== 'live') throw new PermanentFailure('The site is not live')
  if (site.isInMaintenance) throw new PermanentFailure('The site is in maintenance mode')
  const url = `http://${siteAddress(site, services.config)}/`
  const measurement = readMeasurement(
    await services.measurePage({ url, siteId: site.id, device, audits, signal }).catch((error) => {
      // A retry cannot help.
      throw error instanceof MeasureImpossible ? new PermanentFailure(error.message) : error
    }),
  )
  if (!measurement) throw new Error('The browser could not load the homepage')
  return measurement
}

async function store(tx: Tx, context: Context<Record<Device, Measurement>>): Promise<void> {
  const { siteId } = context.input
  const id = await insertReport(tx, siteId, context.results, context.now())
  await changeOfJob(tx, context).record({
    action: actions['performance_report.screenshot'],
    message: 'Created a performance report',
    event: { type: events.performance_report_created, data: { id } },
  })
}
