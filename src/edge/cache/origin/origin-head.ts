import { headerOf } from '../../../platform/http/request/raw-headers.ts'
import type { HostResponse } from '../../proxy/forwarding.ts'
import type { CookieDomains } from '../../proxy/set-cookie.ts'
import { type Lifetime, lifetimeOf, type Tier, tierOf } from '../decide/lifetime.ts'
import { nothing, select, togetherWith, type VaryKey, varyKeyOf } from '../decide/vary-key.ts'
import type { Entry } from '../store/entry.ts'

/** What is fetched, and for whom. */
export interface OriginRequest {
  /** The key to look up. */
  readonly key: string
  /** The key of the address; the same if it has one variant. */
  readonly address: string
  /** Names of the visitor's headers that are sent, because variants differ by them. */
  readonly by: readonly string[]
  readonly path: string
  /** Path and query for the host. */
  readonly target: string
  readonly siteId: number
  readonly upstream: string
  /** For the host, raw and flat. */
  readonly headers: readonly string[]
  /** The domains that cookies of the answer may name. */
  readonly domains: CookieDomains
  /** The site's epochs by tier when the request starts. Purges increase them. */
  readonly epochs: Readonly<Record<Tier, number>>
  /** Tiers that are on for the site. */
  readonly tiers: Readonly<Record<Tier, boolean>>
  /** The entry to revalidate (see `originRequestHeaders`), if any. */
  readonly stale: Entry | undefined
}

/** The head of the host's answer. */
export interface OriginHead {
  readonly status: number
  readonly reason: string
  /** Raw pairs for the visitor, flat. */
  readonly headers: string[]
  readonly renderer: string
  readonly tier: Tier
  readonly shows: string
  readonly lifetime: Lifetime | string
  /** Set by the host when the request changed content. */
  readonly purgeSeq: number
  /** The key under which it is stored. */
  readonly key: string
  readonly varyKey: VaryKey
}

/** The answer as received. */
interface Came {
  readonly status: number
  readonly reason: string
  /** Flat, as received. */
  readonly raw: readonly string[]
  /** Larger bodies are not stored. */
  readonly mostBytes: number
}

/** Decides how to handle an answer. */
export function readHead(request: OriginRequest, came: Came, { headers, notes }: HostResponse): OriginHead {
  const { status, reason, raw, mostBytes } = came
  const { renderer, purgeSeq, shows } = notes
  const tier = tierOf(renderer)
  const place = placeOf(request, headers)
  let lifetime = lifetimeOf({ status, headers, tier, isPrivate: notes.isPrivate, isBrief: notes.isBrief }, Date.now())
  if (!request.tiers[tier]) lifetime = 'off'
  else if (!isFramed(status, raw)) lifetime = 'unframed'
  else if (Number(headerOf(headers, 'content-length') ?? 0) > mostBytes) lifetime = 'size'
  else if (!place && typeof lifetime !== 'string') lifetime = 'vary'
  const { key, varyKey } = place ?? { key: request.key, varyKey: nothing }
  return { status, reason, headers, renderer, tier, shows, lifetime, purgeSeq, key, varyKey }
}

/**
 * Returns where to store an answer, by its vary key and by the headers that the host got. @returns undefined when it
 * cannot be stored
 */
function placeOf({ address, by, headers }: OriginRequest, told: readonly string[]) {
  const says = varyKeyOf(told)
  const varyKey = says && togetherWith(by, says)
  if (!varyKey) return undefined
  if (varyKey.by.length === 0) return { key: address, varyKey }
  const selected = select(address, varyKey.by, headers)
  return selected && { key: selected.key, varyKey }
}

/** A body that ends with its connection may be incomplete (RFC 9112 §8). */
function isFramed(status: number, raw: readonly string[]): boolean {
  if (status === 204) return true
  return raw.some((name, i) => i % 2 === 0 && /^(?:content-length|transfer-encoding)$/i.test(name))
}
