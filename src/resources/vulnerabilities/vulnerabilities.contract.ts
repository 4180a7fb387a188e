import { expect } from 'vitest'
import type { Contract, JobSample } from '../../../test/support/contract.ts'
import { change, forgets, inAnHour } from '../../../test/support/job-worlds.ts'
import { at, type Sample } from '../../../test/support/samples.ts'
import { withExtensions } from '../inventory/inventory.fixture.ts'
import { withVulnerabilities } from './vulnerabilities.fixture.ts'

const samples: readonly Sample[] = [{ endpoint: 'listVulnerabilities', path: at('/v1/vulnerabilities') }]

/** The time of the older row of {@link forgets}. */
const OLDER = 1_000_000

const jobs: Record<string, JobSample> = {
  // Without a feed. `read-vulnerabilities.test.ts` has some.
  'vulnerabilities.read': forgets(
    inAnHour,
    (world, readAt) =>
      change(world, async (tx) => {
        // What other cases left.
        await tx.deleteFrom('vulnerabilities').where('read_at', '!=', OLDER).execute()
        await withVulnerabilities(tx, [{ slug: `forms-${readAt}` }], readAt)
      }),
    async ({ api }) => {
      const rows = await api.database.read.selectFrom('vulnerabilities').select('read_at').execute()
      return rows.map(({ read_at: readAt }) => ({ at: Number(readAt) }))
    },
  ),
  'vulnerabilities.judge': {
    async prepare(world) {
      await change(world, (tx) => withVulnerabilities(tx, [{ slug: 'vulnerable-forms' }]))
      await withExtensions(world.api, world.site, [{ slug: 'vulnerable-forms' }])
      return { input: {} }
    },
    async done({ api, site }) {
      const alerts = api.database.read.selectFrom('alerts').select('kind').where('site_id', '=', site)
      expect(await alerts.where('ended_at', 'is', null).execute()).toEqual([{ kind: 'vulnerability' }])
    },
  },
}

const causes: Contract['causes'] = {
  vulnerability_found: {
    cause: 'vulnerabilities.judge',
    seenIn: 'src/resources/vulnerabilities/vulnerabilities.test.ts',
  },
}

export const contract: Contract = { samples, causes, jobs }
