import { hkdfSync } from 'node:crypto'
import { markOfKey } from './master-key.ts'
import { markKey } from './seal.ts'

/** What an edge needs of the master key, in base64. None of these keys opens anything else. */
export interface EdgeKeys {
  /** The mark of the master key from which they were derived. */
  readonly mark: string
  /** Seals the private keys of certificates, and the keys of session tickets, for edges. */
  readonly sealing: string
  /** What edges present to hosts. */
  readonly toHosts: string
  /** Signs challenges of visitors. */
  readonly challenges: string
  /** Proves that a name leads to this installation. */
  readonly leadsHere: string
}

/** The purpose of the code with which an edge proves that a name leads to this installation. */
export const HERE_PURPOSE = 'name leads here'

const derived = (masterKey: Buffer, purpose: string): string =>
  Buffer.from(hkdfSync('sha256', masterKey, '', `stead ${purpose}`, 32)).toString('base64url')

export const edgeKeysOf = (masterKey: Buffer): EdgeKeys => ({
  mark: markOfKey(masterKey),
  sealing: derived(masterKey, 'sealing for edges'),
  toHosts: derived(masterKey, 'edge to host'),
  challenges: derived(masterKey, 'edge challenge'),
  leadsHere: markKey(masterKey, HERE_PURPOSE).toString('base64url'),
})

/** Checks keys that came over the network, or from a file. @returns undefined if they are incomplete */
export function readEdgeKeys(given: unknown): EdgeKeys | undefined {
  const { mark, sealing, toHosts, challenges, leadsHere } = Object(given) as Record<string, unknown>
  const all = { mark, sealing, toHosts, challenges, leadsHere }
  return Object.values(all).every((each) => typeof each === 'string' && each !== '') ? (all as EdgeKeys) : undefined
}
