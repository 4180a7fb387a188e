import Type from 'typebox'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import type { HostServices } from '../kit/host-services.ts'
import { runSiteTask } from '../sites/public.ts'

/** Flushes the object cache of a site with WordPress' own function, which also flushes the storage of a drop-in. */
export const flushObjectCacheJob = durableWith<HostServices>()({
  name: 'site.flush_object_cache',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'host',
  changeableBy: { site: 'manage performance' },
  attempts: 2,
  steps: { flush: { run: flush } },
})

async function flush({ services, input }: StepContext<{ siteId: number }, HostServices>): Promise<void> {
  const refusal = 'WordPress did not flush the object cache'
  await runSiteTask(services, input.siteId, 'flush-object-cache', {}, { refusal })
}
