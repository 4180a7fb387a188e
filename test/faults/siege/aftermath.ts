import { existsSync } from 'node:fs'
import { until } from '../../support/stead.ts'
import type { SiegeGround } from './ground.ts'

const LONGEST_MS = 120_000

/**
 * When the attackers are gone: deletes their sites, from the trash as well, and checks that nothing of them is left on
 * the disk.
 */
export async function aftermath({ stead, target, siteDirectories }: SiegeGround): Promise<string[]> {
  const as = { authorization: `Bearer ${target.token}` }
  const faults: string[] = []
  await stead.stop()
  stead.set({ STEAD_TRASH_DAYS: '0' })
  await stead.start()
  for (const { id, host } of target.sites) {
    const { status } = await stead.api('DELETE', `/v1/sites/${id}`, undefined, as)
    if (status !== 200) faults.push(`deleting ${host}: ${status}`)
  }
  await until(
    'their files are gone',
    () => siteDirectories.every((directory) => !existsSync(directory)),
    LONGEST_MS,
  ).catch(() => {
    const left = siteDirectories.filter((directory) => existsSync(directory))
    faults.push(`${left.length} deleted sites are still on the disk after ${LONGEST_MS / 1000} s: ${left.join(' ')}`)
  })
  const failed = await stead.api('GET', '/v1/operations?state=failed', undefined, as)
  for (const { type, error } of failed.body.data ?? []) faults.push(`${type} failed: ${error}`)
  return faults
}
