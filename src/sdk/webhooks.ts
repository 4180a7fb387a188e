/** The delivery does not match its signature, or is too old. Answer it with 400 and do nothing. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

/** The content of a webhook delivery. */
export interface WebhookEvent {
  readonly id: string | number
  readonly type: string
  readonly timestamp: string
  readonly account_id: number
  readonly site_id: number | null
  readonly data: unknown
}

export interface Delivery {
  /** `whsec_…`. While a secret is being replaced, pass both in any order. */
  readonly secret: string | readonly string[]
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The body as received. Parsing and serializing it creates another text. */
  readonly body: string | Uint8Array
  /** How far the sender's clock may differ from this one. Default: 300. */
  readonly toleranceSeconds?: number
  /** Milliseconds UTC. Default: now. */
  readonly now?: number
}

const encoder = new TextEncoder()

/**
 * Checks the signature of a delivery (Standard Webhooks, v1) and parses it. The same event may arrive twice, with the
 * same `webhook-id`.
 * @throws WebhookError
 */
export async function verifyWebhook(delivery: Delivery): Promise<WebhookEvent> {
  const { secret, body, toleranceSeconds = 300, now = Date.now() } = delivery
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = headerOf(delivery.headers, name)
    if (!value) throw new WebhookError(`The header ${name} is missing`)
    return value
  }) as [string, string, string]
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookError('webhook-timestamp is no time')
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookError(`webhook-timestamp is more than ${toleranceSeconds} seconds from now`)
  const bytes = typeof body === 'string' ? encoder.encode(body) : body
  const head = encoder.encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(head.length + bytes.length)
  signed.set(head)
  signed.set(bytes, head.length)
  if (!(await isSigned(signed, [secret].flat(), signatures))) throw new WebhookError('No signature fits the secret')
  return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent
}

/** More signatures than a few are an attempt to waste this machine's processor time. */
const MOST_SIGNATURES = 10

async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  secrets: readonly string[],
  signatures: string,
): Promise<boolean> {
  const given = signatures
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .slice(0, MOST_SIGNATURES)
    .flatMap((each) => bytesOf(each.slice(3)) ?? [])
  for (const secret of secrets) {
    const key = bytesOf(secret.replace(/^whsec_/, ''))
    if (!key?.length) throw new WebhookError('The secret is none: whsec_ and base64')
    const hmac = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    // verify takes the same time wherever the first difference is.
    for (const each of given) if (await crypto.subtle.verify('HMAC', hmac, each, signed)) return true
  }
  return false
}

function headerOf(headers: Delivery['headers'], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof found === 'string' ? found : found?.[0]
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
  } catch {
    return undefined
  }
}
