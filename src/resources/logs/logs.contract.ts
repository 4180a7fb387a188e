import { expect } from 'vitest'
import type { Contract, JobSample } from '../../../test/support/contract.ts'
import { OLD } from '../../../test/support/job-worlds.ts'
import { onSite, type Sample } from '../../../test/support/samples.ts'

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listServerLog', path: onSite('/logs/server'), roles: [] },
  { endpoint: 'listPhpLog', path: onSite('/logs/php'), roles: [] },
  { endpoint: 'countPhpLog', path: onSite('/logs/php/count?status=Database%20error'), roles: [] },
]

const jobs: Record<string, JobSample> = {
  'logs.drop': {
    prepare: async () => ({ input: {}, options: { siteId: null } }),
    async done({ maintained }) {
      expect(maintained.length).toBeGreaterThan(0)
      expect(Math.min(...maintained)).toBeGreaterThan(OLD)
    },
  },
}

export const contract: Contract = { samples, jobs }
