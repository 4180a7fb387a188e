import { createSocket } from 'node:dgram'
import { isIP } from 'node:net'
import type { Config } from '../../config.ts'
import { OperatorError } from '../../platform/operator-error.ts'

type Settings = Pick<Config, 'hostListen' | 'hostAdvertise' | 'databaseUrl'>

const isAny = (host: string): boolean => ['0.0.0.0', '::', '[::]'].includes(host)
export const isLoopback = (host: string): boolean => host === '::1' || host.startsWith('127.')

/**
 * Returns the `http` address at which edges reach a host. A host that listens on all addresses announces the one
 * towards the PostgreSQL server, because edges reach that as well.
 * @param port the port on which it listens
 * @param towards returns the address of this machine towards another
 * @throws OperatorError when no address follows from the settings
 */
export async function announcedAddress(
  { hostListen, hostAdvertise, databaseUrl }: Settings,
  port: number,
  towards: (host: string) => Promise<string | undefined> = addressTowards,
): Promise<string> {
  if (hostAdvertise) return httpAddress(hostAdvertise.host, hostAdvertise.port)
  if (!isAny(hostListen.host)) return httpAddress(hostListen.host, port)
  // Everything is on one machine.
  if (!databaseUrl) return httpAddress('127.0.0.1', port)
  const own = await towards(new URL(databaseUrl).hostname)
  if (own !== undefined && isIP(own) !== 0 && !isLoopback(own)) return httpAddress(own, port)
  throw new OperatorError(
    `This host listens on all addresses (STEAD_HOST_LISTEN=${hostListen.host}:${hostListen.port}), and none of them follows from ` +
      'STEAD_DATABASE_URL. Set STEAD_HOST_ADVERTISE to the address and port at which edges reach this host, such as 10.0.0.5:8090.',
  )
}

const httpAddress = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/**
 * Returns this machine's address towards a host. Sends nothing: a connected UDP socket knows the address from which the
 * machine would send.
 */
async function addressTowards(host: string): Promise<string | undefined> {
  const name = host.replace(/^\[|\]$/g, '')
  if (name === '') return undefined
  const socket = createSocket(isIP(name) === 6 ? 'udp6' : 'udp4')
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      socket.connect(9, name, resolve)
    })
    return socket.address().address
  } catch {
    return undefined
  } finally {
    socket.close()
  }
}
