import { headerOf } from '../../platform/http/request/raw-headers.ts'
import type { PhpPool, PooledSite } from './pool/pool.ts'

/** The most that is read of a front page. A longer one still counts as present. */
const MOST_BYTES = 16 << 20
/** The most that is kept of it. */
const MOST_KEPT_BYTES = 1 << 20

export interface FrontPageOptions {
  /** The path of another page. */
  readonly path?: string
  readonly signal?: AbortSignal
  readonly whileHeld?: boolean
  /** Addresses that it must not lead to: those of the site that it is a copy of. */
  readonly others?: readonly string[]
}

/** A front page as a visitor gets it. */
export interface FrontPage {
  readonly status: number
  /** The target of a redirect, or empty. */
  readonly location: string
  /** The beginning of the page. */
  readonly text: string
}

/**
 * Requests a site's front page as a visitor of its address who is not logged in.
 * @throws the errors of `PhpPool.handle`
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
  // PHP is free again when its page has been read.
  for await (const piece of body as AsyncIterable<Buffer>) {
    if (bytes < MOST_KEPT_BYTES) kept.push(piece)
    bytes += piece.length
    if (bytes > MOST_BYTES) break
  }
  return { status, location: headerOf(headers, 'location') ?? '', text: Buffer.concat(kept).toString() }
}

/**
 * Checks a front page like {@link getFrontPage}.
 * @returns what is wrong with the answer, in words for the site's owner; undefined if a visitor would see the site's
 * content
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
  // Sites that are not public answer 401 and 403. Sites without a front page answer 404.
  return status === 200 && text === '' ? 'its homepage is empty' : undefined
}

/**
 * Checks a redirect. Sites may redirect anywhere, except to these. WordPress without tables redirects to its installer.
 */
function redirectFault(
  { address }: Pick<PooledSite, 'address'>,
  location: string,
  others: readonly string[],
): string | undefined {
  const target = URL.parse(location, `http://${address}`)
  if (target?.pathname.endsWith('/wp-admin/install.php')) return 'WordPress does not find its tables'
  return target && others.includes(target.host) ? `its homepage redirects to ${target.host}` : undefined
}
