import ipaddr from 'ipaddr.js'

/** A server that has copies of all zones. */
export interface Secondary {
  readonly host: string
  /** Where it hears of changes. */
  readonly port: number
  /** It must sign with this key, and is told under it. */
  readonly keyName?: string
}

/** Whether a client may have whole zones. @param keyName of its right signature */
export function transferRule(secondaries: readonly Secondary[]) {
  const allowed = secondaries.map(({ host, keyName }) => ({ address: plainAddress(host), keyName }))
  return (address: string, keyName: string | undefined): boolean => {
    const from = plainAddress(address)
    return allowed.some((each) => each.address === from && (each.keyName === undefined || each.keyName === keyName))
  }
}

/** One form of each address: IPv6 has many, and a client of an IPv6 socket may have an IPv4 one in disguise. */
export const plainAddress = (address: string): string =>
  ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
