import { hash } from 'node:crypto'
import Type from 'typebox'
import { Timestamp, timestamp } from '../../platform/http/schemas.ts'

/** Lifetime since the last use. A daily code prompt would keep people from choosing a second factor. */
export const SESSION_MS = 30 * 86_400_000
/** How long a confirmed password counts, for actions that cannot be undone and for secrets. */
export const PROOF_MS = 15 * 60_000

/** The token of a session is not an API token. Its hash has its own prefix, so that it counts only in the cookie. */
export const sessionHash = (token: string): string => hash('sha256', `session ${token}`, 'hex')

export const SessionSchema = Type.Object(
  {
    id: Type.Integer(),
    current: Type.Boolean({ description: 'Whether this is the session of the request' }),
    created_at: Timestamp,
    seen_at: Timestamp,
    expires_at: Timestamp,
    user_agent: Type.String({ examples: ['Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'] }),
    ip_address: Type.String({ examples: ['203.0.113.7'] }),
  },
  { title: 'Session' },
)

export interface Session {
  readonly id: number
  readonly createdAt: number
  readonly seenAt: number
  readonly expiresAt: number
  readonly userAgent: string
  readonly ipAddress: string
}

export const presentSession = (session: Session, currentId: number | undefined): Type.Static<typeof SessionSchema> => ({
  id: session.id,
  current: session.id === currentId,
  created_at: timestamp(session.createdAt),
  seen_at: timestamp(session.seenAt),
  expires_at: timestamp(session.expiresAt),
  user_agent: session.userAgent,
  ip_address: session.ipAddress,
})
