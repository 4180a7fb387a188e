import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { ListenAddress } from '../../config.ts'
import { type Listener, listeners, reachableHost } from '../listeners.ts'
import { cannotListen, portFault } from '../start/free-port.ts'
import { type Check, type Finding, ok, problem, problemOf } from './check.ts'

const PATIENCE_MS = 5000

/** Checks that every address of a running role answers. While nothing runs, all must be free. */
export const portsCheck: Check = {
  area: 'ports',
  async run({ config, running }) {
    // The system chooses a port for 0.
    const fixed = listeners(config).filter(({ address }) => address.port !== 0)
    const those = running === 'stopped' ? fixed : fixed.filter(({ role }) => running.has(role))
    const look = running === 'stopped' ? isFree : answers
    return Promise.all(those.map(look))
  },
}

const describeListener = ({ host, port }: ListenAddress): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

async function isFree({ address, variable, protocol, isOptional }: Listener): Promise<Finding> {
  const fault =
    (await portFault(address, variable)) ?? (protocol === 'dns' ? await udpFault(address, variable) : undefined)
  if (!fault) return ok(`${describeListener(address)} is free (${variable}).`)
  const found = problemOf(fault)
  return isOptional ? { ...found, state: 'warning' } : found
}

async function udpFault({ host, port }: ListenAddress, variable: string) {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
  try {
    socket.bind({ address: host, port, exclusive: true })
    await once(socket, 'listening')
    return undefined
  } catch (error) {
    return cannotListen({ host, port }, (error as NodeJS.ErrnoException).code ?? 'unknown', variable)
  } finally {
    socket.close()
  }
}

async function answers({ address, variable, protocol, isOptional }: Listener): Promise<Finding> {
  const where = `${describeListener(address)} (${variable})`
  const host = reachableHost(address.host)
  const heard = await greeting({ host, port: address.port }, protocol === 'ssh').catch(() => undefined)
  const remedy = `Check the log, and whether another program uses the port. Or choose another port with ${variable}.`
  const silent = (text: string): Finding => ({ ...problem(text, remedy), ...(isOptional && { state: 'warning' }) })
  if (heard === undefined) return silent(`Nothing responds on ${where}.`)
  if (protocol === 'ssh' && !heard.startsWith('SSH-2.0-Stead')) return silent(`Another program responds on ${where}.`)
  return ok(`Stead responds on ${where}.`)
}

/**
 * Connects.
 * @returns the server's greeting, if the server speaks first
 */
async function greeting({ host, port }: ListenAddress, speaks: boolean): Promise<string> {
  const socket = connect({ host, port })
  const signal = AbortSignal.timeout(PATIENCE_MS)
  try {
    await once(socket, 'connect', { signal })
    return speaks ? String((await once(socket, 'data', { signal }))[0]) : ''
  } finally {
    socket.destroy()
  }
}
