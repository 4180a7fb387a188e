import { readFile } from 'node:fs/promises'
import type { Client } from 'acme-client'
import { PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import type { ControlServices } from '../kit/control-services.ts'
import { findAcmeAccount, insertAcmeAccount, setAcmeAccountUrl } from './certificate.store.ts'

/** Purpose that the key of the account is sealed for. */
const PURPOSE = 'acme account key'

const bindingOf = ({ acmeEabKid: kid, acmeEabKey: hmacKey }: ControlServices['config']) =>
  kid !== undefined && hmacKey !== undefined ? { kid, hmacKey } : undefined

/**
 * Returns the authority of the settings, with Stead's account there. The account's key is created once, and stored
 * before the authority gets it.
 * @throws PermanentFailure when the authority gives accounts only to its customers, and the settings name none
 */
export async function authorityOf({
  services: { config, database, sealer },
  transaction,
  now,
}: Pick<
  StepContext<unknown, Pick<ControlServices, 'config' | 'database' | 'sealer'>>,
  'services' | 'transaction' | 'now'
>): Promise<Client> {
  // Loaded only where certificates are ordered.
  const { CustomersOnly, makeKey, openAuthority, register } = await import('../../certificates/authority.ts')
  const { acmeDirectory: directory } = config
  const roots = config.acmeRoots === undefined ? undefined : await readFile(config.acmeRoots, 'utf8')
  let account = await findAcmeAccount(database.read, directory)
  if (!account) {
    const privateKey = sealer.seal(await makeKey(), PURPOSE)
    account = await transaction((tx) => insertAcmeAccount(tx, { directory, privateKey, now: now() }))
  }
  const accountKey = sealer.open(account.private_key, PURPOSE)
  const client = openAuthority({ directory, accountKey, accountUrl: account.url, binding: bindingOf(config), roots })
  if (account.url === null) {
    const url = await register(client, config.acmeEmail).catch((error) => {
      if (!(error instanceof CustomersOnly)) throw error
      // A retry cannot help before the operator sets them.
      throw new PermanentFailure(
        `${error.message}. Set STEAD_ACME_EAB_KID and STEAD_ACME_EAB_KEY as the authority shows them to you.`,
      )
    })
    await transaction((tx) => setAcmeAccountUrl(tx, directory, url))
  }
  return client
}
