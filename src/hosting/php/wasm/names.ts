import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/** Finds the addresses of names for sites. */
export interface Names {
  /** All addresses, IPv4 first. @throws when there are none, or the name server does not answer */
  addressesOf(host: string): Promise<string[]>
}

const answerTimeoutMs = 3000
const silenceMs = 30_000

/**
 * The machine's own resolver with an end to waiting: a site's PHP does nothing else while it waits for a name, and where no
 * name server answers (a laptop without network) every page of wp-admin waited 10 s. After one silence nobody is asked for
 * 30 s.
 */
export function createNames(find: (host: string) => Promise<string[]> = askMachine): Names {
  let silentUntil = 0
  return {
    async addressesOf(host) {
      if (isIP(host)) return [host]
      // RFC 6761 §6.3: no name server is asked for these.
      if (/(^|\.)localhost\.?$/i.test(host)) return ['127.0.0.1']
      if (performance.now() < silentUntil) throw new Error('the name server did not answer a moment ago')
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          silentUntil = performance.now() + silenceMs
          reject(new Error('the name server does not answer'))
        }, answerTimeoutMs)
      })
      return Promise.race([find(host), late]).finally(() => clearTimeout(timer))
    },
  }
}

async function askMachine(host: string): Promise<string[]> {
  return (await lookup(host, { all: true, order: 'ipv4first' })).map((found) => found.address)
}
