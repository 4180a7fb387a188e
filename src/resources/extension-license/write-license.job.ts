import Type from 'typebox'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import type { HostServices } from '../kit/host-services.ts'
import { runSiteTask } from '../sites/public.ts'
import { findLicense } from './license.store.ts'

/** Updates the option of a site's WordPress to the current record: the key, or none. */
export const writeLicense = durableWith<HostServices>()({
  name: 'extension_license.write',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'host',
  changeableBy: { site: 'manage plugins' },
  attempts: 2,
  steps: { option: { run: writeOption } },
})

async function writeOption({ services, input, log }: StepContext<{ siteId: number }, HostServices>): Promise<void> {
  const license = await findLicense(services.database.read, input.siteId)
  const key = license && license.revokedAt === null ? license.licenseKey : null
  const refusal = 'WordPress did not keep the license'
  const { dropIn } = await runSiteTask(services, input.siteId, 'write-license', { key }, { refusal })
  if (!dropIn) return
  // The site's object cache still has the old value. If the cache itself is broken, the table has the key anyway.
  await runSiteTask(services, input.siteId, 'flush-object-cache', {}).catch((error) =>
    log.warn({ err: error, siteId: input.siteId }, 'could not flush the object cache of a site after a license change'),
  )
}
