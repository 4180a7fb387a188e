import Type from 'typebox'
import { Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { PROOF_MS, proveSession } from '../sessions/public.ts'
import { verifyPassword } from './passkeys/verify-guess.ts'
import { LONGEST_PASSWORD } from './password/user-password.ts'
import { problems } from './problems.ts'

export const IdentityProof = Type.Object({ proven_until: Timestamp }, { title: 'Proof' })

export const proveIdentity = endpoint({
  id: 'proveIdentity',
  method: 'POST',
  path: '/v1/session/proof',
  summary: 'Confirm your identity with your password',
  description:
    'For the next 15 minutes, the session can run operations that cannot be undone or that return new secrets. Without the confirmation, these operations return 403 `proof_needed`.',
  access: { account: 'session' },
  body: Type.Object({
    password: Type.String({ minLength: 1, maxLength: LONGEST_PASSWORD, examples: ['correct horse battery'] }),
  }),
  response: IdentityProof,
  problems: [problems.wrong_password, problems.too_many_guesses, problems.too_many_sign_ins],

  async prepare(context, { body }) {
    const { caller } = context
    await verifyPassword(context, { id: caller.accountId, email: caller.accountEmail }, body.password)
  },

  async handle({ tx, session, now }) {
    await proveSession(tx, session.id, now)
    return { proven_until: timestamp(now + PROOF_MS) }
  },
})
