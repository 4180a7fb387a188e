import { createHmac, randomBytes } from 'node:crypto'

/** Purpose that secrets are sealed for. */
export const SECRET_PURPOSE = 'webhook secret'

/** Returns a new secret in the form of Standard Webhooks. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** Id that identifies a message to its receiver, and the signed body. */
export interface SignedMessage {
  readonly id: string
  readonly body: string
}

/**
 * Returns the headers of one attempt (Standard Webhooks 1.0).
 * @param secrets the newest first
 */
export function signedHeaders(
  { id, body }: SignedMessage,
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
    // For receivers without support for Standard Webhooks. The key is the secret as it is written.
    'x-signature': createHmac('sha256', secrets[0] as string)
      .update(body)
      .digest('hex'),
  }
}
