/*
 * Domain names as text: labels in lower case, one character per byte (latin1), `.` and `\` inside a label escaped by
 * `\`, and no trailing dot. '' is the root. Equal texts are equal names (RFC 4343).
 */

const LONGEST_NAME = 255
const LONGEST_LABEL = 63
/** More pointers than a name can have labels are invalid. */
const MOST_POINTERS = 127

/** Returns the end of the first label: its dot, or the end of the name. */
export function endOfLabel(name: string): number {
  const dot = name.indexOf('.')
  if (dot === -1) return name.length
  if (!name.includes('\\')) return dot
  for (let at = 0; at < name.length; at++) {
    if (name[at] === '\\') at++
    else if (name[at] === '.') return at
  }
  return name.length
}

/** Returns the name without its first label, or '' for the last one. */
export const parentName = (name: string): string => name.slice(endOfLabel(name) + 1)

/** Returns whether `name` is `zone` or below it. */
export function isWithin(name: string, zone: string): boolean {
  if (zone === '' || name === zone) return true
  if (!name.endsWith(`.${zone}`)) return false
  if (!name.includes('\\')) return true
  // The dot may be part of a label.
  for (let rest = name; rest.length >= zone.length; rest = parentName(rest)) if (rest === zone) return true
  return false
}

const escaped = (label: string): string => label.replace(/[.\\]/g, '\\$&')
const unescaped = (label: string): string => label.replace(/\\(.)/gs, '$1')

/** Returns the labels of a name, as they are on the wire. */
export function labelsOf(name: string): string[] {
  const labels: string[] = []
  for (let rest = name; rest !== ''; rest = parentName(rest)) labels.push(unescaped(rest.slice(0, endOfLabel(rest))))
  return labels
}

/** Returns the name for labels as they are on the wire. */
export const nameOfLabels = (labels: readonly string[]): string => labels.map(escaped).join('.')

/**
 * Returns the name in wire format, without compression.
 * @throws RangeError for an invalid name
 */
export function wireOf(name: string): Buffer {
  const parts: Buffer[] = []
  for (const label of labelsOf(name)) {
    const bytes = Buffer.from(label, 'latin1')
    if (bytes.length === 0 || bytes.length > LONGEST_LABEL) throw new RangeError(`no label of a domain name: ${label}`)
    parts.push(Buffer.from([bytes.length]), bytes)
  }
  const wire = Buffer.concat([...parts, Buffer.from([0])])
  if (wire.length > LONGEST_NAME) throw new RangeError(`too long for a domain name: ${name}`)
  return wire
}

/**
 * Converts a host name from a setting or a record to a name.
 * @throws RangeError for an invalid name
 */
export function dnsName(text: string): string {
  const name = text.toLowerCase().replace(/\.$/, '')
  if (name.startsWith('.') || name.includes('..')) throw new RangeError(`empty label in ${text}`)
  if (!/^[\x21-\x7e]*$/.test(name)) throw new RangeError(`no ASCII form of a domain name: ${text}`)
  wireOf(name)
  return name
}

/** A name in a message. */
export interface ReadName {
  readonly name: string
  /** The position at which the message continues. */
  readonly end: number
  readonly hasPointer: boolean
}

/**
 * Parses a name at an offset. Pointers may only lead back.
 * @returns undefined when there is none
 */
export function readName(message: Buffer, offset: number): ReadName | undefined {
  let name = ''
  let at = offset
  let end = -1
  let length = 1
  let pointers = 0
  for (;;) {
    const size = message[at]
    if (size === undefined) return undefined
    if (size === 0) return { name, end: end === -1 ? at + 1 : end, hasPointer: end !== -1 }
    if (size >= 0xc0) {
      const low = message[at + 1]
      if (low === undefined) return undefined
      const to = ((size & 0x3f) << 8) | low
      if (to >= at || ++pointers > MOST_POINTERS) return undefined
      if (end === -1) end = at + 2
      at = to
      continue
    }
    length += size + 1
    if (size > LONGEST_LABEL || at + 1 + size > message.length || length > LONGEST_NAME) return undefined
    const label = message.toString('latin1', at + 1, at + 1 + size).toLowerCase()
    name += (name === '' ? '' : '.') + (/[.\\]/.test(label) ? escaped(label) : label)
    at += size + 1
  }
}
