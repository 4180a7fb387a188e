import Type from 'typebox'
import { durable } from '../../platform/operations/definition.ts'
import { aboutSite, changeBy } from '../change.ts'
import { findSite, switchSetting } from '../sites/site.ts'
import { events } from './actions.ts'

/** Switches maintenance mode when the site's turn comes: what "the other state" is, is decided then. */
export const switchMaintenance = durable({
  name: 'site.maintenance',
  input: Type.Object({ siteId: Type.Integer(), enabled: Type.Union([Type.Boolean(), Type.Null()]) }),
  on: 'control',
  changeableBy: { site: 'manage performance' },
  steps: {
    switch: {
      async commit(tx, { input, now }) {
        const site = await findSite(tx, input.siteId)
        if (!site) return
        const result = await switchSetting(tx, site.id, 'maintenance', input.enabled ?? undefined, now())
        if (!result.changed) return
        const change = changeBy(tx, { actor: 'systems', about: aboutSite(site), now: now() })
        await change.tell({ type: events.site_maintenance_mode_toggled, data: { enabled: result.enabled } })
      },
    },
  },
})
