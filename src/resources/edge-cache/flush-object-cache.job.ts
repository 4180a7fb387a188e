import Type from 'typebox'
import { PhpTaskError } from '../../hosting/php/runtime.ts'
import { durableWith, PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import type { HostServices } from '../sites/host-services.ts'

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
  const hosted = await services.hostedSite(input.siteId)
  if (!hosted) throw new PermanentFailure('The site is not installed yet')
  try {
    await services.pool.runTask(hosted, 'flush-object-cache', {})
  } catch (error) {
    if (error instanceof PhpTaskError)
      throw new PermanentFailure(`WordPress did not empty the object cache: ${error.message}`)
    throw error
  }
}
