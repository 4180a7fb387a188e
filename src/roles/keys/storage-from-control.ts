import { StorageFailure } from '../../backups/backup-store.ts'
import type { Signature, StoragePlace, StorageSigner } from '../../backups/storage/signed-storage.ts'
import { StorageAway, StorageRefusal } from '../../backups/storage/storage.ts'
import { isUncounted } from '../../platform/operations/definition.ts'
import { ControlRefused } from '../certificates/join.ts'
import type { RoleIdentity } from '../certificates/role-certificate.ts'
import type { CoreCopy } from './cores-for-hosts.ts'

type Asks = Pick<RoleIdentity, 'ask'>

const EARLIER = 'The control has an earlier version, which does not sign requests to the storage. Upgrade the controls.'
const NOT_FOUND = 404
const FAILED = 500

/**
 * Returns the credentials of a host that has none: a control signs each request.
 * @param moved called if the control uses another bucket, which this host learns at its next start
 */
export function signerFromControl(
  control: Asks,
  place: StoragePlace,
  moved: (place: StoragePlace) => Promise<void>,
): StorageSigner {
  return {
    async sign(requests) {
      const answer = await askForStorage(control, 'storage-requests', { requests })
      const now = answer.place as StoragePlace
      if (JSON.stringify(partsOf(now)) !== JSON.stringify(partsOf(place))) {
        await moved(now)
        throw new StorageAway(
          `The control stores backups in s3://${now.bucket}/${now.prefix} now, and no longer in s3://${place.bucket}/${place.prefix}. Restart this host.`,
        )
      }
      return answer.signed as Signature[]
    },
    async remove(names) {
      await askForStorage(control, 'storage-removal', { names })
    },
  }
}

const partsOf = ({ bucket, endpoint, region, prefix }: StoragePlace) => [bucket, endpoint, region, prefix]

/**
 * Has a control store a release of WordPress, which other hosts use.
 * @returns a warning if the control cannot get it
 */
export async function storeCoreAtControl(
  control: Asks,
  version: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (;;) {
    signal.throwIfAborted()
    const { state, reason } = (await askForStorage(control, 'core-copy', { version })) as unknown as CoreCopy
    if (state === 'stored') return undefined
    if (state === 'failed') throw new StorageFailure(String(reason))
    if (state === 'unavailable')
      return `The control cannot get WordPress ${version}, so its files are not in the storage for backups. Set STEAD_CORE_SOURCE on the control`
  }
}

/** @throws StorageAway, StorageRefusal */
async function askForStorage(control: Asks, what: string, body: object): Promise<Record<string, unknown>> {
  try {
    return await control.ask(`POST /internal/${what}`, body)
  } catch (error) {
    const { message } = error as Error
    const status = error instanceof ControlRefused ? error.status : undefined
    if (status === NOT_FOUND) throw new StorageAway(EARLIER, { cause: error })
    if (isUncounted(error) || (status !== undefined && status >= FAILED))
      throw new StorageAway(message, { cause: error })
    throw new StorageRefusal(message, { cause: error })
  }
}
