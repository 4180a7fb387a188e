import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { jobSamples } from '../../../../test/contract/contracts.ts'
import { JobStand } from '../../../../test/contract/job-stand.ts'
import { type TestApi, testApi } from '../../../../test/support/api.ts'
import type { JobSample } from '../../../../test/support/contract.ts'
import { jobs } from '../../../jobs.ts'
import type { AnyDefinition } from '../../../platform/operations/definition.ts'
import { ended } from '../../../platform/operations/harness.ts'
import type { HostServices } from '../../kit/host-services.ts'
import type { SiteHooks } from '../../kit/site-hooks.ts'

/** All operations that create or replace files of a site as a whole. */
const types = [
  'site.provision',
  'site.clone',
  'site.configure',
  'site.restore',
  'site.sync',
  'site.import',
  'site.bring_back',
]

describe('the site’s files were created or replaced', () => {
  let api: TestApi
  let stand: JobStand
  beforeAll(async () => {
    api = await testApi('sqlite')
    stand = new JobStand(api)
  })
  afterEach(() => stand.tidy())
  afterAll(() => api?.close())

  test.each(types)('%s reports it', async (type) => {
    const world = await stand.newWorld()
    const filled: number[] = []
    const hooks: SiteHooks<HostServices> = { filled: async (_services, { id }) => void filled.push(id) }
    Object.assign(world.host.services, { siteHooks: [...world.host.services.siteHooks, hooks] })
    const definition = jobs.get(type) as AnyDefinition
    const id = await stand.ask(world, jobSamples[type] as JobSample, definition)
    stand.start(world, definition)
    expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded' })
    const { site_id } = await api.database.read
      .selectFrom('operations')
      .select('site_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(new Set(filled)).toEqual(new Set([site_id]))
  })
})
