import { isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { Budget } from '../../../platform/budgets/budget.ts'
import { NameServerSilent, type Resolver } from '../../../platform/fetch/resolver.ts'

/** Resolves names for sites. */
export interface Names {
  /**
   * Returns all addresses of one family.
   * @param site the requester, as budgets know it
   * @throws when there are none, the name server does not answer, or the site looks up too many at once
   */
  addressesOf(host: string, site: string): Promise<string[]>
}

export interface NamesOptions {
  readonly resolver: Resolver
  /** Names that are being looked up. */
  readonly lookups: Budget
  /** After this time without an answer, a query checks whether any server answers at all. */
  readonly doubtMs?: number
  /** While no server answers, the check is repeated at most this often. */
  readonly retryMs?: number
}

const silenceMs = 30_000
const mostSilentNames = 10_000

/**
 * Queries the machine's name servers with a timeout, because a site's PHP does nothing else while it waits for a name.
 *
 * Silence is remembered for the name and the site that requested it: the silent name server may belong to the site, and
 * be silent on purpose. Only if nothing is answered, not even for the root (a laptop without network), do all lookups
 * fail for a while. Every page of wp-admin waited 10 s there.
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
      // RFC 6761 §6.3: these names never go to a name server.
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
