import Type from 'typebox'
import { lockForUpdate } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { endpoint } from '../endpoint.ts'
import { actions } from './actions.ts'
import { takeChallenge } from './challenge.ts'
import { insertPasskey, listPasskeys } from './passkey.store.ts'
import { MOST_PASSKEYS, NewCredential, PasskeySchema, presentPasskey, verifyNewPasskey } from './passkey.ts'
import { problems } from './problems.ts'

export const createPasskey = endpoint({
  id: 'createPasskey',
  method: 'POST',
  path: '/v1/passkeys',
  summary: 'Add a passkey',
  description:
    'Signs in from now on, without the password and without a code: the device itself asks for a finger, a face or a PIN. It counts at the host name that it was made at.',
  access: { account: 'session' },
  proof: true,
  body: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\p{Cc}]*$', examples: ['Laptop'] }),
    credential: NewCredential,
  }),
  response: PasskeySchema,
  problems: [problems.passkey_needs_name, problems.passkey_not_taken, problems.passkey_limit_reached],

  prepare: (context, { body }) => verifyNewPasskey(context, context.caller.accountId, body.credential),

  async handle(context, { body }) {
    const { tx, caller, now, prepared } = context
    const { accountId } = caller
    const { challenge, expiresAt, ...key } = prepared
    await lockForUpdate(tx, 'accounts', accountId)
    if ((await listPasskeys(tx, accountId)).length >= MOST_PASSKEYS)
      throw new Problem(problems.passkey_limit_reached, { limit: MOST_PASSKEYS })
    const { name } = body
    const passkey = { ...key, accountId, name, transports: body.credential.response.transports ?? [], createdAt: now }
    const id = (await takeChallenge(tx, challenge, expiresAt)) && (await insertPasskey(tx, passkey))
    if (!id) throw new Problem(problems.passkey_not_taken, {})
    await context.record({ action: actions['passkey.added'], message: `Added the passkey ${name}` })
    return presentPasskey({ ...passkey, id, usedAt: null })
  },
})
