import Type from 'typebox'
import { Problem } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { actions } from '../actions.ts'
import { activateTotp, findTotp } from '../credentials.store.ts'
import { problems } from '../problems.ts'
import { newRecoveryCodes, stepOf } from './totp.ts'

export const confirmTotp = endpoint({
  id: 'confirmTotp',
  method: 'PUT',
  path: '/v1/totp',
  summary: 'Turn on sign-in with an authenticator app',
  description:
    'From now on, you need a code to sign in. The response contains recovery codes, which Stead does not show again. Each recovery code works once in place of a code.',
  access: { account: 'own', scope: 'owner' },
  proof: true,
  body: Type.Object({ code: Type.String({ maxLength: 40, examples: ['123456'] }) }),
  response: Type.Object(
    { recovery_codes: Type.Array(Type.String(), { examples: [['abcd-efgh-jkmn']] }) },
    { title: 'RecoveryCodes' },
  ),
  problems: [problems.totp_active, problems.totp_not_begun, problems.wrong_code],

  async handle(context, { body }) {
    const { tx, caller, sealer, now } = context
    const totp = await findTotp(tx, caller.accountId)
    if (!totp) throw new Problem(problems.totp_not_begun, {})
    if (totp.isConfirmed) throw new Problem(problems.totp_active, {})
    const step = stepOf(sealer, totp.secret, body.code, now)
    if (step === undefined) throw new Problem(problems.wrong_code, {})
    const { codes, hashes } = newRecoveryCodes()
    if (!(await activateTotp(tx, caller.accountId, { step, codeHashes: hashes, now })))
      throw new Problem(problems.totp_active, {})
    await context.record({ action: actions['totp.enabled'], message: 'Turned on sign-in with an authenticator app' })
    return { recovery_codes: codes }
  },
})
