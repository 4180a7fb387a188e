import { domainToASCII } from 'node:url'
import { declareMemory } from '../../platform/process-memory.ts'
import { ownText } from '../own-memory.ts'

/** A parsed `Host` header. */
export interface Authority {
  /** Lower-case ASCII, no trailing dot. An IPv6 address keeps its brackets. */
  readonly hostName: string
  /** Name and port for the host: `hostName`, and the port if the visitor sent one. */
  readonly host: string
}

const AUTHORITY = /^([a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?|\[[0-9a-f:.]{2,45}\])\.?(?::(\d{1,5}))?$/
const LONG_OR_EMPTY_LABEL = /\.\.|[^.]{64}/
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
const NOT_ASCII = /[^\x00-\x7f]/

/**
 * Parses a `Host` header value (or the authority of an absolute request target), RFC 9110 §7.2. Accepts raw Unicode
 * names, which some clients send instead of punycode.
 * @returns undefined when it names no host.
 */
export function parseAuthority(value: string): Authority | undefined {
  const before = known.get(value)
  if (before) return before
  const authority = readAuthority(value)
  if (!authority) return undefined
  // Long spellings of a name (with ignored letters) must not fill the table.
  if (value.length > MOST_REMEMBERED) return authority
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(ownText(value), authority)
  return authority
}

/** The same few names recur. A flood of invented ones clears the table. */
const MOST_KNOWN = 4_096
const MOST_REMEMBERED = 320
/** A name has 253 characters. Unicode takes several bytes for each letter. */
const MOST_CHARACTERS = 2_048
const known = new Map<string, Authority>()
declareMemory(() => known.clear())

function readAuthority(value: string): Authority | undefined {
  if (value.length > MOST_CHARACTERS) return undefined
  const text = (NOT_ASCII.test(value) ? asciiOf(value) : value).toLowerCase()
  const match = AUTHORITY.exec(text)
  if (!match) return undefined
  const [, hostName = '', port] = match
  if (LONG_OR_EMPTY_LABEL.test(hostName) || Number(port ?? 0) > 65_535) return undefined
  const own = ownText(hostName)
  return { hostName: own, host: port === undefined ? own : `${own}:${port}` }
}

/** Header values arrive as Latin-1 text of UTF-8 bytes. */
function asciiOf(value: string): string {
  const name = Buffer.from(value, 'latin1').toString('utf8')
  const port = /:\d*$/.exec(name)?.[0] ?? ''
  return domainToASCII(name.slice(0, name.length - port.length)) + port
}
