import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import { timestamp } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { PROOF_MS, proveSession } from '../../sessions/public.ts'
import { problems } from '../problems.ts'
import { IdentityProof } from '../prove-identity.ts'
import { takePasskey, UsedCredential, verifyPasskey } from './passkey.ts'

export const proveByPasskey = endpoint({
  id: 'proveByPasskey',
  method: 'POST',
  path: '/v1/session/proof/passkey',
  summary: 'Confirm your identity with a passkey',
  description:
    "Works like `POST /v1/session/proof`. Send the browser's answer to the options from `POST /v1/session/passkey/options`. The passkey must belong to your account.",
  access: { account: 'session' },
  body: Type.Object({ credential: UsedCredential }),
  response: IdentityProof,
  problems: [problems.passkey_needs_name, problems.wrong_passkey],

  async prepare(context, { body }) {
    const verified = await verifyPasskey(context, body.credential)
    if (verified.passkey.accountId !== context.caller.accountId) throw new Problem(problems.wrong_passkey, {})
    return verified
  },

  async handle(context) {
    const { tx, session, now, prepared } = context
    await takePasskey(context, prepared)
    await proveSession(tx, session.id, now)
    return { proven_until: timestamp(now + PROOF_MS) }
  },
})
