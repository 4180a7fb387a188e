import { BlockList, isIP } from 'node:net'
import type { AddressTest } from './rules.ts'

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Adds `10.1.2.3`, `10.1`, `10.0.0.0/8`, `10.0.0.0/255.0.0.0` or an IPv6 range. @returns false for what is none */
function add(list: BlockList, text: string): boolean {
  const [address = '', mask] = text.split('/', 2) as [string?, string?]
  if (/^\d{1,3}(?:\.\d{1,3}){0,2}\.?$/.test(address) && mask === undefined) {
    const parts = address.replace(/\.$/, '').split('.')
    const whole = [...parts, '0', '0', '0'].slice(0, 4).join('.')
    if (isIP(whole) !== 4) return false
    list.addSubnet(whole, parts.length * 8, 'ipv4')
    return true
  }
  const kind = isIP(address)
  if (kind === 0) return false
  if (mask === undefined) list.addAddress(address, familyOf(address))
  else {
    const bits = kind === 4 && isIP(mask) === 4 ? bitsOf(mask) : /^\d{1,3}$/.test(mask) ? Number(mask) : -1
    if (bits < 0 || bits > (kind === 4 ? 32 : 128)) return false
    list.addSubnet(address, bits, familyOf(address))
  }
  return true
}

function bitsOf(mask: string): number {
  const value = mask.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const bits = Math.clz32(~value >>> 0)
  return value === (bits === 0 ? 0 : (-1 << (32 - bits)) >>> 0) ? bits : -1
}

/** @returns a test for any of the ranges, and those that are none */
export function addressTest(texts: readonly string[]): { test: AddressTest; wrong: string[] } {
  const list = new BlockList()
  const wrong = texts.filter((text) => !add(list, text))
  const test = (address: string) => isIP(address) !== 0 && list.check(address, familyOf(address))
  return { test, wrong }
}
