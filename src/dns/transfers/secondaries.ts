import ipaddr from 'ipaddr.js'

/** A server that has copies of all zones. */
export interface Secondary {
  readonly host: string
  /** The port where it receives notifications. */
  readonly port: number
  /** The key it must sign with, and under which it is notified. */
  readonly keyName?: string
}

/** Returns a rule that decides whether a client may have whole zones. Its `keyName` is the key of a valid signature. */
export function transferRule(secondaries: readonly Secondary[]) {
  const allowed = secondaries.map(({ host, keyName }) => ({ address: normalAddress(host), keyName }))
  return (address: string, keyName: string | undefined): boolean => {
    const from = normalAddress(address)
    return allowed.some((each) => each.address === from && (each.keyName === undefined || each.keyName === keyName))
  }
}

/** Normalises an address. IPv6 has many forms, and a client of an IPv6 socket may have a mapped IPv4 address. */
export const normalAddress = (address: string): string =>
  ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
