import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Config } from '../../../config.ts'
import { isPublicAddress } from '../../../platform/fetch/addresses.ts'
import { declareMemory } from '../../../platform/process-memory.ts'

/** Addresses of an edge that listens everywhere. Visitors cannot be sent there. */
const ANY = new Set(['0.0.0.0', '::'])

/**
 * Returns the addresses, at least one, that visitors' DNS records point at. Prefers the addresses in the settings, then
 * the one that the edge listens on, then this machine's public ones, then its first that is not loopback.
 * @param machine this machine's addresses, in its order, IPv4 first
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
  // DNS records need an address, so a name is replaced with the machine's own addresses.
  if (isIP(host) !== 0 && !ANY.has(host)) return [host]
  const own = machine()
  const open = own.filter(isPublicAddress)
  return open.length > 0 ? open : own.slice(0, 1)
}

let known: readonly string[] | undefined
declareMemory(() => {
  known = undefined
})

/** Looks addresses up once. Interfaces that appear later must be named in `STEAD_EDGE_ADDRESSES`. */
function machineAddresses(): readonly string[] {
  known ??= Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .sort((a, b) => a.family.localeCompare(b.family))
    .map(({ address }) => address)
  return known
}
