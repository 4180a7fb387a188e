import { Agent } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import * as acme from 'acme-client'
import axios, { type AxiosError } from 'axios'
import { retryAfterMs } from '../platform/fetch/retry-after.ts'

/** The authority accepts no more requests of this kind for a while. */
export class RateLimited extends Error {
  override readonly name = 'RateLimited'
  /** Set if the authority states a time. */
  readonly retryAfterMs: number | undefined

  constructor(detail: string, retryAfterMs: number | undefined) {
    super(`The authority currently accepts no more orders: ${detail}`)
    this.retryAfterMs = retryAfterMs
  }
}

/** The authority is currently unreachable. Existing orders remain valid. */
export class AuthorityAway extends Error {
  override readonly name = 'AuthorityAway'

  constructor(reason: string) {
    super(`Stead cannot reach the certificate authority: ${reason}`)
  }
}

/** The authority has no account for our key: it was reinstalled, or someone closed the account. */
export class AccountUnknown extends Error {
  override readonly name = 'AccountUnknown'

  constructor(detail: string) {
    super(`The authority does not know Stead's account: ${detail}`)
  }
}

/** The authority accepts only customers, and our account is not bound to one (RFC 8555 §7.3.4). */
export class CustomersOnly extends Error {
  override readonly name = 'CustomersOnly'

  constructor(detail: string) {
    super(`The authority gives accounts to its customers only: ${detail}`)
  }
}

const CUSTOMERS_ONLY = 'urn:ietf:params:acme:error:externalAccountRequired'
const ACCOUNT_UNKNOWN = 'urn:ietf:params:acme:error:accountDoesNotExist'
const RATE_LIMITED = 'urn:ietf:params:acme:error:rateLimited'
/** The longest wait in one step. The next attempt continues. */
const PATIENCE_MS = 240_000
/** The longest time for one answer, however slowly it arrives. */
const REQUEST_MS = 60_000
const MOST_BYTES = 1 << 20

const settings = acme.axios.defaults as typeof acme.axios.defaults & { acmeSettings: { retryMaxAttempts: number } }
// The library would sleep for the time of Retry-After, which may be a day.
settings.acmeSettings.retryMaxAttempts = 0
settings.timeout = 30_000
// A chain has some KB. The library itself sets no limit.
settings.maxContentLength = MOST_BYTES
// An authority must not direct requests into this network.
settings.maxRedirects = 0
/** The origin of the directory, which all addresses in it must share. */
let origin: string | undefined
const http = axios.getAdapter('http')
// If a request gets no answer, the library does not report why, either.
settings.adapter = async (config) => {
  const place = URL.parse(config.url ?? '')?.origin
  if (origin !== undefined && place !== origin)
    throw new AuthorityAway(`it names ${config.url?.slice(0, 200)}, which is not on ${origin}`)
  const late = AbortSignal.timeout(REQUEST_MS)
  try {
    return await http({ ...config, signal: late })
  } catch (error) {
    const { response, message, code } = error as AxiosError
    if (response) throw error
    throw new AuthorityAway(late.aborted ? 'its response takes too long' : message || code || 'no response')
  }
}
acme.axios.interceptors.response.use((response) => {
  const { type, detail } = (response.data ?? {}) as { type?: string; detail?: string }
  if (response.status === 429 || type === RATE_LIMITED)
    throw new RateLimited(
      detail ?? 'too many requests',
      retryAfterMs(String(response.headers['retry-after'] ?? ''), Date.now()),
    )
  if (type === CUSTOMERS_ONLY) throw new CustomersOnly(detail ?? 'it demands an external account binding')
  if (type === ACCOUNT_UNKNOWN) throw new AccountUnknown(detail ?? 'it does not exist')
  if (response.status >= 300 && response.status < 400)
    throw new AuthorityAway('it redirects, and Stead does not follow')
  if (response.status >= 500) throw new AuthorityAway(detail ?? `it responds with ${response.status}`)
  return response
})

export interface AuthorityOptions {
  readonly directory: string
  /** PEM. */
  readonly accountKey: string
  readonly accountUrl: string | null
  /** Binds a new account to a customer of the authority (RFC 8555 §7.3.4). */
  readonly binding?: { readonly kid: string; readonly hmacKey: string } | undefined
  /** The certificates that the authority itself is trusted by, in PEM. Undefined means public ones. */
  readonly roots: string | undefined
}

/** Opens a certificate authority for one account (RFC 8555). */
export function openAuthority({ directory, accountKey, accountUrl, binding, roots }: AuthorityOptions): acme.Client {
  origin = URL.parse(directory)?.origin
  settings.httpsAgent = roots === undefined ? undefined : new Agent({ ca: roots })
  return new acme.Client({
    directoryUrl: directory,
    accountKey,
    ...(accountUrl && { accountUrl }),
    ...(binding && { externalAccountBinding: binding }),
  })
}

/**
 * Creates the key of a new account.
 * @returns PEM
 */
export const makeKey = async (): Promise<string> => (await acme.crypto.createPrivateEcdsaKey('P-256')).toString()

/**
 * Registers the key with the authority, or finds its existing account.
 * @returns the account's address
 */
export async function register(client: acme.Client, email: string | undefined): Promise<string> {
  try {
    await client.createAccount({ termsOfServiceAgreed: true, ...(email && { contact: [`mailto:${email}`] }) })
  } catch (error) {
    // For an existing account, the library updates its data. Authorities refuse that when there is nothing to update.
    if (!isKnown(client)) throw error
  }
  return client.getAccountUrl()
}

function isKnown(client: acme.Client): boolean {
  try {
    return client.getAccountUrl() !== ''
  } catch {
    return false
  }
}

/** Creates a signing request for a name. Omits the common name, which has room for only 64 characters. */
export async function signingRequest(hostName: string, key: string): Promise<Buffer> {
  const [, request] = await acme.crypto.createCsr({ altNames: [hostName] }, key)
  return request
}

/**
 * Orders a certificate for a name.
 * @param replaced the id of the certificate it replaces, because authorities limit renewals less (RFC 9773 §5)
 */
export async function beginOrder(
  client: Pick<acme.Client, 'createOrder'>,
  hostName: string,
  replaced: string | undefined,
): Promise<acme.Order> {
  const wanted = { identifiers: [{ type: 'dns', value: hostName }] }
  // A field that the library's types lack.
  const replacing = { ...wanted, replaces: replaced }
  if (replaced === undefined) return client.createOrder(wanted)
  try {
    return await client.createOrder(replacing)
  } catch (error) {
    if (isOfOurs(error)) throw error
    // It belongs to another authority, or was already replaced.
    return client.createOrder(wanted)
  }
}

const isOfOurs = (error: unknown): boolean =>
  error instanceof AuthorityAway || error instanceof RateLimited || error instanceof AccountUnknown

/**
 * @returns undefined when the authority has forgotten the order
 * @throws AuthorityAway, RateLimited
 */
export async function findOrder(client: acme.Client, url: string): Promise<acme.Order | undefined> {
  try {
    return await client.getOrder({ url } as acme.Order)
  } catch (error) {
    if (isOfOurs(error)) throw error
    return undefined
  }
}

/**
 * Polls until `isSettled`, at increasing intervals.
 * @throws Error when it takes too long, and the reason of `signal`
 */
export async function until<Thing>(
  look: () => Promise<Thing>,
  isSettled: (thing: Thing) => boolean,
  signal: AbortSignal,
): Promise<Thing> {
  const giveUpAt = performance.now() + PATIENCE_MS
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 10_000)) {
    const thing = await look()
    if (isSettled(thing)) return thing
    if (performance.now() > giveUpAt) throw new Error('the authority has not decided yet')
    await pause(waitMs, undefined, { signal })
  }
}
