import { isIP } from 'node:net'
import { resolve } from 'node:path'

/* Parsers of settings. Each turns a text into a value, or throws an `Error` whose message finishes "must be …". */

/** The address that a role listens on. `port` 0 asks the system for a free one. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export const text = (value: string) => value
export const optional = (value: string) => value || undefined
export const folder = (value: string) => resolve(value)
const list = (value: string) =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)

/** A list with one invalid entry. */
export class EntryFault extends Error {
  override readonly name = 'EntryFault'
  readonly entry: string
  /** Counted from 1. */
  readonly place: number

  constructor(message: string, entry: string, place: number) {
    super(message)
    this.entry = entry
    this.place = place
  }
}

/**
 * Parses a comma-separated list.
 * @param parse parses an entry, or throws an `Error` that finishes "must be …"
 */
export const listOf =
  <Value>(parse: (entry: string) => Value) =>
  (value: string): Value[] =>
    list(value).map((entry, index) => {
      try {
        return parse(entry)
      } catch (error) {
        throw new EntryFault((error as Error).message, entry, index + 1)
      }
    })

export function flag(value: string): boolean {
  if (['1', 'true', 'yes', 'on'].includes(value)) return true
  if (['', '0', 'false', 'no', 'off'].includes(value)) return false
  throw new Error('must be true or false')
}

export function wholeNumber(least: number, most: number) {
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

/** Parses one or more addresses with ports. */
export function listens(value: string): ListenAddress[] {
  const addresses = listOf(listen)(value)
  // An empty list fails like an empty entry.
  return addresses.length > 0 ? addresses : [listen(value)]
}

/** Parses the address of a name server, as `node:dns` accepts it. */
export function nameServer(server: string): string {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:]+)\]|([0-9.]+))(?::(\d{1,5}))?$/i.exec(server) ?? []
  const isServer = isIP(bracketed ?? plain ?? server) !== 0 && Number(port ?? 53) <= 65_535
  if (!isServer) throw new Error('must be addresses of name servers, such as 192.0.2.53,[2001:db8::53]:5353')
  return server
}

/** Parses an address that other machines use, so without the zone identifier of this machine. */
export function address(given: string): string {
  if (!isAddress(given)) throw new Error('must be IP addresses, such as 192.0.2.1,2001:db8::1')
  return given
}

const isAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%')

/** Parses an address, or a network with the length of its prefix. */
export function network(given: string): string {
  const [base = '', bits, ...more] = given.split('/')
  const most = isIP(base) === 6 ? 128 : 32
  const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most)
  if (!isAddress(base) || !isNetwork || more.length > 0)
    throw new Error('must be IP addresses or networks, such as 192.0.2.10,10.0.0.0/8,2001:db8::/32')
  return given
}

/** Parses an origin in exactly the form that browsers send, because it is compared as text. */
export function origin(given: string): string {
  const url = URL.parse(given)
  const isOfWeb = /^https?:$/.test(url?.protocol ?? '')
  // Apps in a browser engine have their own schemes.
  const isOrigin = isOfWeb ? url?.origin === given : /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(?::\d{1,5})?$/.test(given)
  if (given !== '*' && !isOrigin)
    throw new Error('must be origins without a path or a final slash, such as https://app.example.com, or *')
  return given
}

/** Parses a WordPress version, in the form of its releases. */
export function coreVersion(value: string): string {
  if (value !== 'latest' && !/^\d+\.\d+(\.\d+)?(-[a-z0-9.-]+)?$/i.test(value))
    throw new Error('must be latest or a version of WordPress, such as 6.8.1')
  return value
}

export function base64url(value: string): string {
  if (!/^[A-Za-z0-9_-]{16,}=*$/.test(value)) throw new Error('must be a key in base64url, as the authority shows it')
  return value
}

export function email(value: string): string {
  if (!/^[^\s<>@,;:"]+@[^\s<>@,;:"]+$/.test(value))
    throw new Error('must be an e-mail address, such as you@example.com')
  return value
}

/** Parses the code of a datacenter. */
export function datacenterCode(value: string): string {
  if (!/^[A-Z0-9]{2,8}$/.test(value)) throw new Error('must be codes of datacenters, such as AMS,BUR')
  return value
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

export function choiceOf<Choice extends string>(...choices: Choice[]) {
  return (value: string): Choice => {
    if (!choices.includes(value as Choice)) throw new Error(`must be one of ${choices.join(', ')}`)
    return value as Choice
  }
}

/** A datacenter where sites can live, as clients see it. */
export interface Datacenter {
  readonly code: string
  readonly name: string
}

export const datacenters = listOf((entry): Datacenter => {
  const [code = '', name] = entry.split('=').map((part) => part.trim())
  if (!/^[A-Z0-9]{2,8}$/.test(code) || !name) throw new Error('must be like AMS=Amsterdam,BUR=Burbank')
  return { code, name }
})

/** A secondary server: its address, where it receives notifications, and its signing key. */
export interface SecondarySetting {
  readonly host: string
  readonly port: number
  readonly keyName?: string
}

export const secondaries = listOf((entry): SecondarySetting => {
  const [given = '', keyName] = entry.split('=', 2) as [string, string?]
  const { host, port } = isIP(given) ? { host: given, port: 53 } : addressAndPort(given)
  return { host, port, ...(keyName !== undefined && { keyName: domain(keyName) }) }
})

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
    listOf((entry) => {
      const at = entry.indexOf('=')
      const key = Buffer.from(entry.slice(at + 1), 'base64')
      if (at < 1 || key.length < 16)
        throw new Error('must be like name=<16 bytes or more in base64> (openssl rand -base64 32)')
      return [domain(entry.slice(0, at)), key] as const
    })(value),
  )
}

/** The http or https URL of a file, or its path. */
export const urlOrFile = (value: string): string | undefined =>
  value === '' ? undefined : /^https?:/i.test(value) ? httpUrl(value) : resolve(value)
