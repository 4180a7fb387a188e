import { join } from 'node:path'
import type { HostedRecord } from '../../hosting/host.store.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import { LastKnownFile } from '../../platform/files/last-known-file.ts'
import type { Log } from '../../platform/log/log.ts'

/** Increase it when the content, or the columns of a site, change. */
const FORMAT = 1

/** What a host needs to serve its sites without the database. */
export interface KnownSites {
  readonly hostId: number
  /** The identity of its data folder. */
  readonly identity: string
  readonly name: string
  /** The port on which it listened, which edges know. */
  readonly port: number
  readonly sites: readonly HostedRecord[]
}

export interface KnownContext {
  readonly config: { readonly dataDir: string }
  readonly sealer: Sealer
  readonly log: Log
}

/** Opens what a host knows of its sites, for a start while the database is away. */
export const knownSites = ({ config, sealer, log }: KnownContext): LastKnownFile<KnownSites> =>
  new LastKnownFile({ file: join(config.dataDir, 'known-sites.json'), format: FORMAT, sealer, log })
