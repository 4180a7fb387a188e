import { hkdfSync } from 'node:crypto'
import { edgeKeysOf } from './edge-keys.ts'

/** What a host needs of the master key, in base64url. Neither key opens anything in the database. */
export interface HostKeys {
  /** The mark of the master key from which they were derived. */
  readonly mark: string
  /** Seals files of this host alone: what it knows for a start without the database. */
  readonly files: string
  /** What edges present to hosts, and hosts to edges for the requests of their sites. */
  readonly toHosts: string
}

/** @param name the name of the host */
export function hostKeysOf(masterKey: Buffer, name: string): HostKeys {
  const { mark, toHosts } = edgeKeysOf(masterKey)
  const files = Buffer.from(hkdfSync('sha256', masterKey, '', `stead files of host ${name}`, 32)).toString('base64url')
  return { mark, files, toHosts }
}

/** Checks keys that came over the network, or from a file. @returns undefined if they are incomplete */
export function readHostKeys(given: unknown): HostKeys | undefined {
  const { mark, files, toHosts } = Object(given) as Record<string, unknown>
  const all = { mark, files, toHosts }
  return Object.values(all).every((each) => typeof each === 'string' && each !== '') ? (all as HostKeys) : undefined
}
