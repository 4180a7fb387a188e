import { headerOf } from '../../platform/http/request/raw-headers.ts'
import type { PhpPool, PooledSite } from './pool/pool.ts'

/** A front page that is longer was there all the same. */
const MOST_BYTES = 16 << 20
/** What is kept of it. */
const MOST_KEPT_BYTES = 1 << 20

export interface FrontPageOptions {
  /** Of another page. */
  readonly path?: string
  readonly signal?: AbortSignal
  readonly whileHeld?: boolean
  /** Addresses that it must not lead to: those of the site that it is a copy of. */
  readonly others?: readonly string[]
}

/** What a visitor gets. */
export interface FrontPage {
  readonly status: number
  /** Where it leads; empty when nowhere. */
  readonly location: string
  /** Its beginning. */
  readonly text: string
}

/**
 * Asks for a site's front page, as a visitor of its address would who is not logged in.
 * @throws what `PhpPool.handle` throws
 */
export async function getFrontPage(
  pool: Pick<PhpPool, 'handle'>,
  site: PooledSite,
  options: FrontPageOptions = {},
): Promise<FrontPage> {
  const request = {
    ...{
      method: 'GET',
      path: options.path ?? '/',
      script: '/wordpress/index.php',
      body: null,
      https: false,
      host: site.address,
    },
    ...{ headers: ['Host', site.address, 'Accept', 'text/html'], remoteAddress: '127.0.0.1' },
  }
  const { status, headers, body } = await pool.handle(site, request, options.signal, { ...options, isJudged: true })
  const kept: Buffer[] = []
  let bytes = 0
  // PHP is free again when its page was taken
  for await (const piece of body as AsyncIterable<Buffer>) {
    if (bytes < MOST_KEPT_BYTES) kept.push(piece)
    bytes += piece.length
    if (bytes > MOST_BYTES) break
  }
  return { status, location: headerOf(headers, 'location') ?? '', text: Buffer.concat(kept).toString() }
}

/**
 * As {@link getFrontPage}.
 * @returns what is wrong with the answer, in words for the site's owner; nothing when a visitor would see what the site has for him
 */
export async function frontPageFault(
  pool: Pick<PhpPool, 'handle'>,
  site: PooledSite,
  options: FrontPageOptions = {},
): Promise<string | undefined> {
  return faultOfPage(site, await getFrontPage(pool, site, options), options.others)
}

export function faultOfPage(
  site: Pick<PooledSite, 'address'>,
  { status, location, text }: FrontPage,
  others: readonly string[] = [],
): string | undefined {
  if (status >= 500) return `its homepage responds with status ${status}`
  if (status >= 300 && status < 400) return redirectFault(site, location, others)
  // 401 and 403 are of sites that are not for everybody, 404 of those that have no front page
  return status === 200 && text === '' ? 'its homepage is empty' : undefined
}

/** Where a redirect leads is the site's own affair, but for these; WordPress without tables leads to its installation. */
function redirectFault(
  { address }: Pick<PooledSite, 'address'>,
  location: string,
  others: readonly string[],
): string | undefined {
  const target = URL.parse(location, `http://${address}`)
  if (target?.pathname.endsWith('/wp-admin/install.php')) return 'WordPress does not find its tables'
  return target && others.includes(target.host) ? `its homepage redirects to ${target.host}` : undefined
}
