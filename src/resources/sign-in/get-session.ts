import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { nullable, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { type Account, findAccount, gravatar, isOperator, raisesLimits } from '../account/public.ts'
import { BrandSchema, brandSeenBy, presentBrand } from '../branding/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { PROOF_MS, renewSession, SESSION_MS } from '../sessions/public.ts'
import { sessionCookie, sessionTokenOf } from './cookie.ts'
import { countRecoveryCodes, findTotp, hasPassword } from './credentials.store.ts'
import { passkeysOfAccount } from './passkeys/passkey.store.ts'
import { hostOfOrigin } from './passkeys/passkey.ts'

/** Minimum time between two extensions of a session. */
const RENEW_MS = 3600_000

export const getSession = endpoint({
  id: 'getSession',
  method: 'GET',
  path: '/v1/session',
  summary: 'Get the current session',
  description:
    'Returns the account of the session. The control panel calls this when it opens. Each use extends the session to 30 days from now.',
  access: { account: 'session' },
  writes: true,
  response: Type.Object(
    {
      id: Type.Integer({ description: 'Id of the session' }),
      account_id: Type.Integer(),
      email: Type.String({ examples: ['owner@example.com'] }),
      name: Type.String({ examples: ['Example Company'] }),
      gravatar: Type.String({ examples: ['https://www.gravatar.com/avatar/c8cd3c64?d=mp'] }),
      expires_at: Timestamp,
      proven_until: nullable(
        Type.String({
          description: 'Until then, you need not confirm your password. Null if you must confirm it',
          examples: ['2026-01-31T09:45:00.000Z'],
        }),
      ),
      operator: Type.Boolean({ description: 'Whether the account operates this installation. The first account does' }),
      raises_limits: Type.Boolean({
        description: 'Whether the account can attach add-ons. The setting `STEAD_ADDONS` decides it',
      }),
      totp: Type.Boolean({ description: 'Whether sign-in requires a code from an authenticator app' }),
      recovery_codes: Type.Integer({ description: 'Number of unused recovery codes' }),
      password: Type.Boolean({ description: 'Whether the account has a password' }),
      passkeys: Type.Integer({ description: 'Number of passkeys for this address of the control panel' }),
      brand: nullable(BrandSchema),
    },
    { title: 'CurrentSession' },
  ),

  async handle({ tx, caller, session, request, origin, now, config }) {
    const { accountId } = caller
    const account = (await findAccount(tx, accountId)) as Account
    const isDue = session.expiresAt < now + SESSION_MS - RENEW_MS
    const expiresAt = isDue ? now + SESSION_MS : session.expiresAt
    if (isDue) await renewSession(tx, session.id, { now, expiresAt })
    const seen = await brandSeenBy(tx, accountId)
    const provenUntil = session.provenAt + PROOF_MS
    const data = {
      id: session.id,
      account_id: accountId,
      email: account.email,
      name: account.name,
      gravatar: gravatar(account.email),
      expires_at: timestamp(expiresAt),
      proven_until: provenUntil > now ? timestamp(provenUntil) : null,
      operator: await isOperator(tx, accountId),
      raises_limits: await raisesLimits(tx, accountId, config),
      totp: (await findTotp(tx, accountId))?.isConfirmed === true,
      recovery_codes: await countRecoveryCodes(tx, accountId),
      password: await hasPassword(tx, accountId),
      passkeys: (await passkeysOfAccount(tx, accountId)).filter(({ hostName }) => hostName === hostOfOrigin(origin))
        .length,
      brand: seen ? presentBrand(seen.brand) : null,
    }
    const token = isDue && sessionTokenOf(request.headers, origin)
    return reply(data, token ? { headers: { 'set-cookie': sessionCookie(origin, token, SESSION_MS / 1000) } } : {})
  },
})
