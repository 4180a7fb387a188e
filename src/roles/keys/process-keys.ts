import { hkdfSync } from 'node:crypto'
import { type EdgeKeys, edgeKeysOf } from '../../platform/crypto/edge-keys.ts'
import type { HostKeys } from '../../platform/crypto/host-keys.ts'
import { createSealer, markWith, type Sealer } from '../../platform/crypto/seal.ts'

/** The keys of a process. */
export interface ProcessKeys {
  /** Undefined on a host or an edge that joined. It has only the keys of its role. */
  readonly masterKey: Buffer | undefined
  /** Seals under the master key. Without it, under a key that only files of this machine have. */
  readonly sealer: Sealer
  /** Seals what all edges open. On a host without the master key, it opens only what the host has sealed. */
  readonly edgeSealer: Sealer
  /** What edges present to hosts. */
  readonly hostKey: string
  /** The key with which edges sign challenges of visitors. */
  readonly challengeKey: Buffer
  /** Returns the code with which an edge proves that a name leads to this installation. */
  readonly markHere: (text: string) => string
}

/** Returns the master key of a role that cannot be without it. */
export function requireMasterKey({ masterKey }: Pick<ProcessKeys, 'masterKey'>): Buffer {
  if (!masterKey) throw new Error('only machines that joined have no master key')
  return masterKey
}

/** Returns the keys of a process that has the master key. */
export const keysOfMaster = (masterKey: Buffer): ProcessKeys => ({
  ...keysOfEdge(edgeKeysOf(masterKey)),
  ...{ masterKey, sealer: createSealer(masterKey) },
})

/** Returns the keys of an edge that has no master key. */
export function keysOfEdge({ sealing, toHosts, challenges, leadsHere }: EdgeKeys): ProcessKeys {
  const [forEdges, forChallenges, forHere] = [sealing, challenges, leadsHere].map((text) =>
    Buffer.from(text, 'base64url'),
  ) as [Buffer, Buffer, Buffer]
  return {
    masterKey: undefined,
    sealer: createSealer(Buffer.from(hkdfSync('sha256', forEdges, '', 'stead files of an edge', 32))),
    edgeSealer: createSealer(forEdges),
    hostKey: toHosts,
    challengeKey: forChallenges,
    markHere: (text) => markWith(forHere, text),
  }
}

/** Returns the keys of a host that has no master key. It needs none of the others, so they are its own. */
export function keysOfHost({ files, toHosts }: HostKeys): ProcessKeys {
  const own = Buffer.from(files, 'base64url')
  return {
    masterKey: undefined,
    ...{ sealer: createSealer(own), edgeSealer: createSealer(own) },
    hostKey: toHosts,
    challengeKey: own,
    markHere: (text) => markWith(own, text),
  }
}

/** Returns the keys of a machine that joined. */
export const keysOfRole = (keys: EdgeKeys | HostKeys): ProcessKeys =>
  'files' in keys ? keysOfHost(keys) : keysOfEdge(keys)
