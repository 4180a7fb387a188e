import Type from 'typebox'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import type { HostServices } from '../kit/host-services.ts'
import { runSiteTask } from '../sites/wordpress/run-site-task.ts'

/** Empties the object cache of a site: WordPress' own, and with it what a drop-in keeps. */
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
