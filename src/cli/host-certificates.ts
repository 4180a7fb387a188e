import { createHash, X509Certificate } from 'node:crypto'
import {
  AlreadyChanging,
  changeAuthority,
  type ListedAuthority,
  signingAuthority,
  trustedAuthorities,
} from '../certificates/role-certificates.store.ts'
import { createSealer } from '../platform/crypto/seal.ts'
import { timestamp } from '../platform/http/schemas.ts'
import type { ControlDatabaseKey } from '../roles/process-context.ts'
import type { Call } from './command.ts'
import { CommandError, printRows } from './output.ts'
import { masterKeyOf, withControlDatabase } from './with-control-database.ts'

/** Runs `stead host ca`. */
export async function authority({
  config,
  flags,
}: Call<{ rotate: boolean }, ControlDatabaseKey | 'masterKey'>): Promise<void> {
  await withControlDatabase(config, async ({ database }) => {
    const now = Date.now()
    const sealer = createSealer(await masterKeyOf(config, database))
    await signingAuthority({ database, sealer, now })
    if (flags.rotate)
      await changeAuthority({ database, sealer, now }).catch((error) => {
        throw error instanceof AlreadyChanging ? stillChanging() : error
      })
    const all = await trustedAuthorities(database.read, now)
    printRows(all.map(describeAuthority), flags.json)
    if (!flags.rotate || flags.json) return
    console.log(
      '\nThe new authority signs certificates in one hour, when all processes trust it. The old one stays trusted for another 30 days, until its last certificate has expired.',
    )
  })
}

const stillChanging = () =>
  new CommandError(
    'The authority is already changing: certificates of the old one are still in use. Try again when stead host ca lists one authority.',
  )

/** The digest tells a machine that joins which authority to expect. */
const describeAuthority = ({ number, certificate, signsAt, expiresAt, isSigning }: ListedAuthority) => ({
  number,
  state: isSigning ? 'signing' : 'trusted',
  digest: digestOf(certificate).toString('hex'),
  signs_from: timestamp(signsAt),
  expires: timestamp(expiresAt),
})

/** Returns the SHA-256 of a certificate. @param certificate PEM */
export const digestOf = (certificate: string): Buffer =>
  createHash('sha256').update(new X509Certificate(certificate).raw).digest()
