import { Resolver } from 'node:dns/promises'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'

/**
 * Bots that site owners want, and the domains of their addresses' names. Their vendors document how to recognize
 * impostors: the address has a name in the domain, and the name resolves to the address.
 */
const BOTS: readonly (readonly [userAgent: RegExp, domains: readonly string[]])[] = [
  [/Googlebot|AdsBot-Google|Google-InspectionTool|GoogleOther|Mediapartners-Google/, ['googlebot.com', 'google.com']],
  [/bingbot|BingPreview|adidxbot/i, ['search.msn.com']],
  [/Applebot/, ['applebot.apple.com']],
  [/YandexBot|YandexImages|YandexMobileBot/, ['yandex.com', 'yandex.ru', 'yandex.net']],
  [/Baiduspider/, ['baidu.com', 'baidu.jp']],
  [/Yahoo! Slurp/, ['crawl.yahoo.net']],
  [/SeznamBot/, ['seznam.cz']],
  [/PetalBot/, ['petalsearch.com']],
  [/Qwantbot|Qwantify/, ['qwant.com', 'search.qwant.com']],
  [/LinkedInBot/, ['linkedin.com']],
  [/Pinterestbot/, ['pinterest.com']],
]

/** The look-ups that are needed from the name service. */
export interface NameLookups {
  reverse(address: string): Promise<string[]>
  addresses(name: string): Promise<string[]>
}

/** Returns whether a visitor is a bot that may pass, without a promise if that is known. */
export type KnowBot = (userAgent: string, address: string) => boolean | Promise<boolean>

const GOOD_MS = 24 * 3_600_000
const BAD_MS = 10 * 60_000
/**
 * The most look-ups at once. Visits beyond are challenged, so that a flood under a bot's name does not flood the name
 * service.
 */
const MOST_PENDING = 32
const MOST_NAMES = 4

/** @param how `dns`: as documented above; `name`: by user agent alone, which anyone can forge; `none`: no bot passes */
export function createBotCheck(how: 'dns' | 'name' | 'none', names: NameLookups = systemNames()): KnowBot {
  if (how === 'none') return () => false
  const known = new LRUCache<string, boolean>({ max: 20_000 })
  const pending = new Map<string, Promise<boolean>>()
  return (userAgent, address) => {
    const bot = BOTS.find(([pattern]) => pattern.test(userAgent))
    if (!bot) return false
    if (how === 'name') return true
    const [, domains] = bot
    const key = `${domains[0]} ${address}`
    const verdict = known.get(key)
    if (verdict !== undefined) return verdict
    const inFlight = pending.get(key)
    if (inFlight) return inFlight
    if (pending.size >= MOST_PENDING) return false
    const asked = isNamed(names, address, domains)
      .catch(() => false)
      .then((isBot) => {
        known.set(key, isBot, { ttl: isBot ? GOOD_MS : BAD_MS })
        pending.delete(key)
        return isBot
      })
    pending.set(key, asked)
    return asked
  }
}

async function isNamed(names: NameLookups, address: string, domains: readonly string[]): Promise<boolean> {
  const found = (await names.reverse(address))
    .map((name) => name.toLowerCase().replace(/\.$/, ''))
    .filter((name) => domains.some((domain) => name.endsWith(`.${domain}`)))
  for (const name of found.slice(0, MOST_NAMES)) {
    const addresses = await names.addresses(name)
    if (addresses.some((other) => isSame(other, address))) return true
  }
  return false
}

const isSame = (one: string, other: string): boolean =>
  ipaddr.isValid(one) && ipaddr.isValid(other) && ipaddr.process(one).toString() === ipaddr.process(other).toString()

function systemNames(): NameLookups {
  const resolver = new Resolver({ timeout: 1500, tries: 1 })
  return {
    reverse: (address) => resolver.reverse(address),
    async addresses(name) {
      const both = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
      return both.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    },
  }
}
