import { type RepositoryKeys, readPortableKeys } from '../../backups/format/keys.ts'
import type { StoreKeys } from '../../backups/open-store.ts'
import type { StoragePlace } from '../../backups/storage/signed-storage.ts'
import { jobs } from '../../jobs.ts'
import { secretOpener } from '../../platform/operations/rights-of-host.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { HostServices } from '../../resources/kit/host-services.ts'
import { openBackups, openBackupsOf } from '../../resources/kit/open-backups.ts'
import { keepGiven } from '../certificates/join.ts'
import type { RoleIdentity } from '../certificates/role-certificate.ts'
import { signerFromControl, storeCoreAtControl } from '../keys/storage-from-control.ts'
import type { ProcessContext } from '../process-context.ts'

/** Each takes about 3 kB. */
const MOST_KEPT = 1_000

type Asks = Pick<RoleIdentity, 'ask'>

/**
 * Returns the services of a host that need secrets. A host without the master key asks a control for each.
 * @param control undefined on a host that has the master key
 */
export function openSecrets(
  context: Pick<ProcessContext, 'config' | 'database' | 'sealer' | 'masterKey' | 'signedStorage'>,
  { hostId, control }: { readonly hostId: number; readonly control: Asks | undefined },
): Pick<HostServices, 'backups' | 'openSecret' | 'storeCore'> {
  const { config, database, sealer, masterKey, signedStorage: place } = context
  if (masterKey)
    return {
      backups: openBackups(context),
      openSecret: secretOpener({ database, hostId, sealer, definitions: jobs }),
    }
  if (!control) throw new Error('a host without the master key has a certificate')
  const moved = (storage: StoragePlace) => keepGiven(config.dataDir, { storage })
  const signed = place && { place, signer: signerFromControl(control, place, moved) }
  return {
    backups: openBackupsOf({ config, database, keys: keysFromControl(control), signed }),
    ...(signed && { storeCore: (version, signal) => storeCoreAtControl(control, version, signal) }),
    async openSecret(operation) {
      const { secret } = await control.ask('POST /internal/operation-secret', { operation })
      return String(secret)
    },
  }
}

type KeysOfOwner = Awaited<ReturnType<StoreKeys['ofRepository']>>

/** Keeps the keys of the last repositories, so that most backups need no control. */
export function keysFromControl(control: Asks): StoreKeys {
  const kept = new Map<string, Promise<KeysOfOwner>>()
  return {
    ofRepository(owner) {
      const found = kept.get(owner) ?? askForKeys(control, owner)
      // The last used one is the last to go.
      kept.delete(owner)
      kept.set(owner, found)
      found.catch(() => {
        if (kept.get(owner) === found) kept.delete(owner)
      })
      const [oldest] = kept.keys()
      if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
      return found
    },
    async claim() {
      const { mark } = await control.ask('POST /internal/backup-storage', {})
      return String(mark)
    },
  }
}

async function askForKeys(control: Asks, owner: string): Promise<{ mark: string; keys: RepositoryKeys }> {
  const answer = await control.ask('POST /internal/repository-key', { owner })
  const keys = readPortableKeys(owner, answer.keys)
  if (!keys) throw new OperatorError('The control gave no keys of backups. Upgrade the control.')
  return { mark: String(answer.mark), keys }
}
