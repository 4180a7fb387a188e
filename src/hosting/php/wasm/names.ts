import { isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { Budget } from '../../../platform/budgets/budget.ts'
import { NameServerSilent, type Resolver } from '../../../platform/fetch/resolver.ts'

/** Finds the addresses of names for sites. */
export interface Names {
  /**
   * All addresses of one kind.
   * @param site who asks, as budgets know it
   * @throws when there are none, the name server does not answer, or the site asks for too many at once
   */
  addressesOf(host: string, site: string): Promise<string[]>
}

export interface NamesOptions {
  readonly resolver: Resolver
  /** Names that are being looked up. */
  readonly lookups: Budget
  /** Without an answer for so long, it is found out whether there are answers at all. */
  readonly doubtMs?: number
  /** While nothing is answered it is found out anew, at most this often. */
  readonly retryMs?: number
}

const silenceMs = 30_000
const mostSilentNames = 10_000

/**
 * The machine's name servers with an end to waiting: a site's PHP does nothing else while it waits for a name.
 *
 * Silence belongs to the name and to the site that asked for it: a name server that does not answer may be the site's own, made to
 * that end. Only where nothing is answered at all, not even for the root of all names (a laptop without network), is nobody
 * asked for a while; every page of wp-admin waited 10 s there.
 */
export function createNames({ resolver, lookups, doubtMs = 1000, retryMs = 5000 }: NamesOptions): Names {
  const silent = new LRUCache<string, true>({ max: mostSilentNames, ttl: silenceMs })
  let allSilentUntil = 0
  let askedAt = Number.NEGATIVE_INFINITY
  let asking = false

  const findOut = async () => {
    if (asking || performance.now() - askedAt < retryMs) return
    asking = true
    askedAt = performance.now()
    const isAnswered = await resolver.isAnswered().catch(() => true)
    allSilentUntil = isAnswered ? 0 : performance.now() + silenceMs
    asking = false
  }
  return {
    async addressesOf(host, site) {
      if (isIP(host)) return [host]
      // RFC 6761 §6.3: no name server is asked for these.
      if (/(^|\.)localhost\.?$/i.test(host)) return ['127.0.0.1']
      const key = `${site} ${host.toLowerCase()}`
      if (performance.now() < allSilentUntil) {
        void findOut()
        throw new NameServerSilent('no name server responds')
      }
      if (silent.has(key)) throw new NameServerSilent('the name server did not respond for this name a moment ago')
      if (!lookups.take(site, 1)) throw new Error('too many names are being looked up')
      const doubt = setTimeout(findOut, doubtMs)
      try {
        return await resolver.find(host)
      } catch (error) {
        if (error instanceof NameServerSilent) silent.set(key, true)
        throw error
      } finally {
        clearTimeout(doubt)
        lookups.give(site, 1)
      }
    },
  }
}
