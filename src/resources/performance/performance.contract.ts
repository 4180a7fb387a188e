import { expect } from 'vitest'
import type { Contract, JobSample, ProblemCase } from '../../../test/support/contract.ts'
import { rows } from '../../../test/support/job-worlds.ts'
import { onSite, type Sample } from '../../../test/support/samples.ts'
import { plan } from '../../../test/support/scenes.ts'

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'toggleLight404', path: onSite('/light_weight_404'), roles: ['manage_performance'] },
  { endpoint: 'toggleMultisite', path: onSite('/multisite-support'), roles: ['manage_performance'] },
  { endpoint: 'toggleMaintenance', path: onSite('/maintenance-mode'), roles: ['manage_performance'] },
]

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['toggleMultisite'], code: 'plan_lacks_multisite', prepare: plan('Business') },
]

const events: Contract['events'] = {
  toggleLight404: ['light_weight_404_changed'],
}

const causes: Contract['causes'] = {
  site_maintenance_mode_toggled: { cause: 'site.maintenance' },
}

const jobs: Record<string, JobSample> = {
  'site.maintenance': {
    // The other state: a toggle that ran twice would restore the old one.
    prepare: async ({ site }) => ({ input: { siteId: site, enabled: null } }),
    async done(world) {
      const sites = world.api.database.read.selectFrom('sites').select('maintenance')
      expect(await sites.where('id', '=', world.site).executeTakeFirst()).toEqual({ maintenance: 1 })
      expect(await rows(world, 'events', 'type', 'site_maintenance_mode_toggled', world.site)).toBe(1)
    },
  },
}

export const contract: Contract = { samples, problems, events, causes, jobs }
