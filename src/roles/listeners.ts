import { type Config, type ListenAddress, settings, variableOf } from '../config.ts'

/** An address on which a role listens. */
export interface Listener {
  readonly role: 'control' | 'edge' | 'host' | 'dns'
  /** The setting that names it. */
  readonly variable: string
  readonly address: ListenAddress
  readonly protocol: 'http' | 'ssh' | 'dns'
  /** Whether it is a default that may be in use. The role starts without it. */
  readonly isOptional: boolean
}

const roles = {
  apiListen: ['control', 'http'],
  apiTlsListen: ['control', 'http'],
  edgeListen: ['edge', 'http'],
  edgeTlsListen: ['edge', 'http'],
  hostListen: ['host', 'http'],
  sftpListen: ['host', 'ssh'],
  dnsListen: ['dns', 'dns'],
} as const

const loopbacks: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Returns the host at which this machine reaches a listener, which may listen on all addresses. */
export const reachableHost = (host: string): string => loopbacks[host] ?? host

/** Returns every address in the settings. */
export function listeners(config: Pick<Config, keyof typeof roles>): Listener[] {
  return (Object.keys(roles) as (keyof typeof roles)[]).flatMap((key) => {
    const value = config[key]
    if (value === 'off') return []
    const addresses = [value].flat() as ListenAddress[]
    const [role, protocol] = roles[key]
    const isDefault = addresses.map(({ host, port }) => `${host}:${port}`).join() === settings[key].default
    const isOptional = isDefault && protocol !== 'http'
    return addresses.map((address) => ({ role, variable: variableOf(key), address, protocol, isOptional }))
  })
}
