import { isIP } from 'node:net'
import { resolve } from 'node:path'

/* Readers of settings: each turns a text into a value, or throws an `Error` whose message finishes "must be …". */

/** Where a part listens. `port` 0 asks the system for a free one. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export const text = (value: string) => value
export const optional = (value: string) => value || undefined
export const folder = (value: string) => resolve(value)
export const list = (value: string) =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)

export function flag(value: string): boolean {
  if (['1', 'true', 'yes', 'on'].includes(value)) return true
  if (['', '0', 'false', 'no', 'off'].includes(value)) return false
  throw new Error('must be true or false')
}

export function integer(least: number, most: number) {
  return (value: string): number => {
    const number = Number(value)
    if (!Number.isInteger(number) || number < least || number > most)
      throw new Error(`must be a whole number from ${least} to ${most}`)
    return number
  }
}

export function listen(value: string): ListenAddress {
  const match = /^(?:\[([0-9a-f:]+)\]|([^:[\]]+)):(\d{1,5})$/i.exec(value)
  const port = Number(match?.[3])
  if (!match || port > 65_535) throw new Error('must be an address and a port, such as 127.0.0.1:8080 or [::1]:8080')
  return { host: (match[1] ?? match[2]) as string, port }
}

/** One or more addresses with ports. */
export function listens(value: string): ListenAddress[] {
  const addresses = list(value)
  // whatever is wrong with none at all is what is wrong with one
  return (addresses.length > 0 ? addresses : [value]).map(listen)
}

/** Addresses of name servers, as `node:dns` takes them. */
export function nameServers(value: string): string[] {
  const servers = list(value)
  for (const server of servers) {
    const [, bracketed, plain, port] = /^(?:\[([0-9a-f:]+)\]|([0-9.]+))(?::(\d{1,5}))?$/i.exec(server) ?? []
    const isServer = isIP(bracketed ?? plain ?? server) !== 0 && Number(port ?? 53) <= 65_535
    if (!isServer) throw new Error('must be addresses of name servers, such as 192.0.2.53,[2001:db8::53]:5353')
  }
  return servers
}

/** Addresses that others reach, so without the zone identifier of this machine. */
export function addresses(value: string): string[] {
  const given = list(value)
  if (!given.every((each) => isIP(each) !== 0 && !each.includes('%')))
    throw new Error('must be IP addresses, such as 192.0.2.1,2001:db8::1')
  return given
}

export function domain(value: string): string {
  if (!/^(?=.{1,200}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(value))
    throw new Error('must be a lower-case domain name, such as sites.example.com')
  return value
}

export function httpUrl(value: string): string | undefined {
  if (!value) return undefined
  if (!/^https?:$/.test(URL.parse(value)?.protocol ?? '')) throw new Error('must be an http or https address')
  return value.replace(/\/+$/, '')
}

export function databaseUrl(value: string): string | undefined {
  if (!value) return undefined
  if (!/^postgres(ql)?:$/.test(URL.parse(value)?.protocol ?? '')) throw new Error('must be a postgres:// address')
  return value
}

export function mariadbUrl(value: string): string | undefined {
  if (!value) return undefined
  const url = URL.parse(value)
  const isWhole = url?.username && (url.hostname || url.searchParams.get('socket')?.startsWith('/'))
  if (!/^(mariadb|mysql):$/.test(url?.protocol ?? '') || !isWhole)
    throw new Error('must be like mariadb://user:password@db.example.com:3306')
  return value
}

export function masterKey(value: string): Buffer | undefined {
  if (!value) return undefined
  const key = Buffer.from(value, 'base64')
  if (key.length !== 32) throw new Error('must be 32 bytes in base64 (openssl rand -base64 32)')
  return key
}

export function smtpUrl(value: string): string | undefined {
  if (!value) return undefined
  const url = URL.parse(value)
  if (!/^smtps?:$/.test(url?.protocol ?? '') || !url?.hostname)
    throw new Error('must be like smtp://user:password@mail.example.com:587 or smtps://…')
  return value
}

export function mailbox(value: string): string {
  if (!/^(?:[^<>"\p{Cc}]* <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u.test(value))
    throw new Error('must be like Stead <stead@example.com>')
  return value
}

export function oneOf<Choice extends string>(...choices: Choice[]) {
  return (value: string): Choice => {
    if (!choices.includes(value as Choice)) throw new Error(`must be one of ${choices.join(', ')}`)
    return value as Choice
  }
}

/** A place where sites can live, as clients see it. */
export interface Datacenter {
  readonly code: string
  readonly name: string
}

export function datacenters(value: string): Datacenter[] {
  const entries = list(value).map((entry) => entry.split('=').map((part) => part.trim()))
  for (const [code, name] of entries)
    if (!/^[A-Z0-9]{2,8}$/.test(code ?? '') || !name) throw new Error('must be like AMS=Amsterdam,BUR=Burbank')
  return entries.map(([code, name]) => ({ code, name }) as Datacenter)
}

/** A server that copies zones: its address, where it hears of changes, and the key that it signs with. */
export interface Secondary {
  readonly host: string
  readonly port: number
  readonly keyName?: string
}

export function secondaries(value: string): Secondary[] {
  return list(value).map((entry) => {
    const [address = '', keyName] = entry.split('=', 2) as [string, string?]
    const { host, port } = isIP(address) ? { host: address, port: 53 } : addressAndPort(address)
    return { host, port, ...(keyName !== undefined && { keyName: domain(keyName) }) }
  })
}

function addressAndPort(value: string): ListenAddress {
  const match = /^(?:\[([0-9a-f:]+)\]|([0-9.]+)):(\d{1,5})$/i.exec(value)
  const host = match?.[1] ?? match?.[2] ?? ''
  const port = Number(match?.[3])
  if (!isIP(host) || !(port > 0 && port <= 65_535))
    throw new Error('must be IP addresses, such as 192.0.2.1, [2001:db8::1]:5300 or 192.0.2.1=key')
  return { host, port }
}

export function tsigKeys(value: string): ReadonlyMap<string, Buffer> | undefined {
  if (!value) return undefined
  return new Map(
    list(value).map((entry) => {
      const at = entry.indexOf('=')
      const key = Buffer.from(entry.slice(at + 1), 'base64')
      if (at < 1 || key.length < 16)
        throw new Error('must be like name=<16 bytes or more in base64> (openssl rand -base64 32)')
      return [domain(entry.slice(0, at)), key]
    }),
  )
}
