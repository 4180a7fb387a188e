import { createHmac, randomBytes } from 'node:crypto'

/** Bound to sealed secrets. */
export const SECRET_PURPOSE = 'webhook secret'

/** As Standard Webhooks has them. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** What a receiver knows a message by, and what it was signed with. */
export interface Message {
  readonly id: string
  readonly body: string
}

/**
 * The headers of one attempt (Standard Webhooks 1.0).
 * @param secrets the newest first
 */
export function signedHeaders(
  { id, body }: Message,
  secrets: readonly string[],
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
    // for receivers that know no Standard Webhooks: keyed with the secret as it is written
    'x-signature': createHmac('sha256', secrets[0] as string)
      .update(body)
      .digest('hex'),
  }
}
