import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, isIPv6 } from 'node:net'
import { type ListenAddress, settings } from '../config.ts'
import type { Responder } from '../dns/responder.ts'
import { createTcp, type TcpServer } from '../dns/tcp.ts'
import { listenUdp } from '../dns/udp.ts'
import type { Budget } from '../platform/budgets/budget.ts'
import type { ProcessContext } from './process-context.ts'
import { CannotListen, cannotListen, dnsProcesses, listenAlone, listenTogether } from './start/free-port.ts'

const VARIABLE = 'STEAD_DNS_LISTEN'
/** The number of attempts for a port that the system chooses, which must be free for UDP and TCP. */
const TRIES = 5

export interface Sockets {
  /** The port of the first address. */
  readonly port: number
  close(): Promise<void>
}

/**
 * Listens for UDP and TCP on each address.
 * @param connections the budget of all addresses together
 * @returns undefined when it is off, or the default port is in use
 */
export async function openSockets(
  { config, log }: Pick<ProcessContext, 'config' | 'log'>,
  responder: Responder,
  connections: Budget,
): Promise<Sockets | undefined> {
  const { dnsListen } = config
  if (dnsListen === 'off') return undefined
  const open: Both[] = []
  const close = async () => {
    await Promise.all(open.map(closeBoth))
  }
  try {
    for (const address of dnsListen) {
      // With other addresses, `::` is IPv6 only, because IPv4 has its own address.
      const ipv6Only = dnsListen.length > 1 && isIPv6(address.host)
      const isShared = dnsProcesses(config) > 1
      const both = await listenOnBoth({ address, ipv6Only, isShared, responder, connections, onError })
      open.push(both)
      const { address: host, port } = both.udp.address()
      log.info({ address: host, port }, 'name server is listening')
    }
    return { port: (open[0] as Both).udp.address().port, close }
  } catch (error) {
    await close()
    const isDefault = dnsListen.map(({ host, port }) => `${host}:${port}`).join() === settings.dnsListen.default
    if (!(error instanceof CannotListen) || !isDefault) throw error
    log.warn({ reason: error.message }, 'the name server is off because its port is in use')
    return undefined
  }
  function onError(error: unknown): void {
    log.error({ err: error }, 'the name server has a problem with its address')
  }
}

interface Both {
  readonly tcp: TcpServer
  readonly udp: Socket
}

async function closeBoth({ tcp, udp }: Both): Promise<void> {
  const closed = once(udp, 'close')
  udp.close()
  await Promise.all([closed, tcp.close()])
}

interface Wanted {
  readonly address: ListenAddress
  readonly ipv6Only: boolean
  readonly isShared: boolean
  readonly responder: Responder
  readonly connections: Budget
  readonly onError: (error: unknown) => void
}

async function listenOnBoth(wanted: Wanted, tries = TRIES): Promise<Both> {
  const { address, ipv6Only, isShared, responder, connections, onError } = wanted
  const tcp = createTcp({ responder, connections })
  await (isShared ? listenTogether : listenAlone)(tcp.server, { ...address, ipv6Only }, VARIABLE)
  const { port } = tcp.server.address() as AddressInfo
  try {
    return { tcp, udp: await listenUdp({ responder, host: address.host, port, ipv6Only, isShared, onError }) }
  } catch (error) {
    await tcp.close()
    if (address.port === 0 && tries > 1) return listenOnBoth(wanted, tries - 1)
    throw cannotListen({ ...address, port }, (error as NodeJS.ErrnoException).code ?? 'unknown', VARIABLE)
  }
}
