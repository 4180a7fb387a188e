import Type from 'typebox'
import { durable } from '../../platform/operations/definition.ts'
import { changeOfJob } from '../kit/change.ts'
import { holdSite, switchSetting } from '../sites/public.ts'
import { events } from './actions.ts'

/** Switches maintenance mode. A toggle is resolved when the operation runs. */
export const switchMaintenance = durable({
  name: 'site.maintenance',
  input: Type.Object({ siteId: Type.Integer(), enabled: Type.Union([Type.Boolean(), Type.Null()]) }),
  on: 'control',
  changeableBy: { site: 'manage performance' },
  steps: {
    switch: {
      async commit(tx, context) {
        const { input, now } = context
        const site = await holdSite(tx, input.siteId)
        if (!site) return
        const result = await switchSetting(tx, site.id, 'maintenance', input.enabled ?? undefined, now())
        if (!result.changed) return
        const data = { enabled: result.enabled }
        await changeOfJob(tx, context).tell({ type: events.site_maintenance_mode_toggled, data })
      },
    },
  },
})
