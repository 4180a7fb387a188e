import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Config } from '../../../config.ts'
import { isPublicAddress } from '../../../platform/fetch/addresses.ts'
import { declareMemory } from '../../../platform/process-memory.ts'

/** An edge that listens on all addresses: nobody can be sent there. */
const ANY = new Set(['0.0.0.0', '::'])

/**
 * The addresses, one at least, that visitors' DNS records point at: those of the settings, else the one that the edge listens on, else the public
 * ones of this machine, else its first that is not loopback.
 * @param machine this machine's addresses, in its order; IPv4 first
 */
export function edgeAddresses(
  { edgeAddresses: given, edgeListen }: Pick<Config, 'edgeAddresses' | 'edgeListen'>,
  machine: () => readonly string[] = machineAddresses,
): readonly string[] {
  const found = given.length > 0 ? given : listening(edgeListen.host, machine)
  return found.length > 0 ? [...new Set(found)] : ['127.0.0.1']
}

function listening(host: string, machine: () => readonly string[]): readonly string[] {
  if (host === 'localhost') return []
  // DNS records need an address: a name stands for the machine
  if (isIP(host) !== 0 && !ANY.has(host)) return [host]
  const own = machine()
  const open = own.filter(isPublicAddress)
  return open.length > 0 ? open : own.slice(0, 1)
}

let known: readonly string[] | undefined
declareMemory(() => {
  known = undefined
})

/** Looked up once: interfaces that come later are for `STEAD_EDGE_ADDRESSES` to name. */
function machineAddresses(): readonly string[] {
  known ??= Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .sort((a, b) => a.family.localeCompare(b.family))
    .map(({ address }) => address)
  return known
}
