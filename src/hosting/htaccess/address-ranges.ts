import { BlockList, isIP, isIPv4 } from 'node:net'
import type { AddressTest } from './rules.ts'

/** Ranges of addresses. There may be thousands. */
class Ranges {
  /** Flat pairs: the value that the masked address must have, and the mask. */
  readonly #v4: number[] = []
  #v6: BlockList | undefined

  has(address: string): boolean {
    const kind = isIP(address)
    if (kind === 6) return this.#v6?.check(address, 'ipv6') ?? false
    if (kind !== 4) return false
    const value = numberOf(address)
    for (let i = 0; i < this.#v4.length; i += 2) if ((value & (this.#v4[i + 1] as number)) === this.#v4[i]) return true
    return false
  }

  /**
   * Adds `10.1.2.3`, `10.1`, `10.0.0.0/8`, `10.0.0.0/255.0.0.0`, or an IPv6 range.
   * @returns false for invalid text
   */
  add(text: string): boolean {
    const [address = '', mask, more] = text.split('/')
    if (more !== undefined) return false
    if (/^\d{1,3}(?:\.\d{1,3}){0,2}\.?$/.test(address) && mask === undefined) {
      const parts = address.replace(/\.$/, '').split('.')
      return this.#addV4([...parts, '0', '0', '0'].slice(0, 4).join('.'), maskOf(parts.length * 8))
    }
    if (isIP(address) === 4) return this.#addV4(address, mask === undefined ? -1 : readMask(mask))
    if (isIP(address) !== 6 || (mask !== undefined && !(/^\d{1,3}$/.test(mask) && Number(mask) <= 128))) return false
    this.#v6 ??= new BlockList()
    if (mask === undefined) this.#v6.addAddress(address, 'ipv6')
    else this.#v6.addSubnet(address, Number(mask), 'ipv6')
    return true
  }

  #addV4(address: string, mask: number | undefined): boolean {
    if (!isIPv4(address) || mask === undefined) return false
    this.#v4.push(numberOf(address) & mask, mask)
    return true
  }
}

const numberOf = (address: string): number => {
  const [a, b, c, d] = address.split('.')
  return (Number(a) << 24) | (Number(b) << 16) | (Number(c) << 8) | Number(d)
}

const maskOf = (bits: number): number => (bits === 0 ? 0 : -1 << (32 - bits))

function readMask(text: string): number | undefined {
  if (isIPv4(text)) return numberOf(text)
  return /^\d{1,2}$/.test(text) && Number(text) <= 32 ? maskOf(Number(text)) : undefined
}

/** @returns a test for any of the ranges, and the invalid ones */
export function addressTest(texts: readonly string[]): { test: AddressTest; wrong: string[] } {
  const ranges = new Ranges()
  const wrong = texts.filter((text) => !ranges.add(text))
  return { test: (address) => ranges.has(address), wrong }
}
