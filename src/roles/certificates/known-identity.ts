import { join } from 'node:path'
import { LastKnownFile } from '../../platform/files/last-known-file.ts'
import type { RoleName } from '../../platform/mtls/role-name.ts'
import type { KnownRoles, OwnCertificate } from '../../platform/mtls/role-trust.ts'
import type { ProcessContext } from '../process-context.ts'

const FORMAT = 1
const KEY_PURPOSE = 'role certificate key'

/** What a process needs to trust others, and to be trusted by them. */
export interface KnownIdentity {
  readonly own: OwnCertificate
  readonly known: KnownRoles
}

interface KeptIdentity {
  readonly name: string
  readonly certificate: string
  /** The private key, sealed. */
  readonly key: string
  readonly known: KnownRoles
}

type NeededContext = Pick<ProcessContext, 'sealer' | 'log'> & {
  readonly config: Pick<ProcessContext['config'], 'dataDir'>
}

/**
 * Keeps the certificate of a host or an edge for a start while the database is away. Several processes of an edge share
 * the file, and any of their certificates serves each of them. Controls do nothing without the database.
 */
export function knownIdentity({ config, sealer, log }: NeededContext, { role, name }: RoleName) {
  const file = new LastKnownFile<KeptIdentity>({
    file: join(config.dataDir, `known-${role}.json`),
    ...{ format: FORMAT, sealer, log },
  })
  // A sealed text is another one each time.
  let written: string | undefined
  return {
    /** @returns undefined without a file for this name that can be used */
    async read(): Promise<KnownIdentity | undefined> {
      if (role === 'control') return undefined
      const kept = await file.read()
      if (kept?.name !== name) return undefined
      const { certificate, known } = kept
      return { own: { certificate, key: sealer.open(kept.key, KEY_PURPOSE) }, known }
    },
    async write({ own: { certificate, key }, known }: KnownIdentity): Promise<void> {
      const facts = JSON.stringify([certificate, known])
      if (role === 'control' || facts === written) return
      const isKept = await file.write({ name, certificate, key: sealer.seal(key, KEY_PURPOSE), known })
      written = isKept ? facts : undefined
    },
  }
}
