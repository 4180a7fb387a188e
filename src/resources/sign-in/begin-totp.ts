import Type from 'typebox'
import { Problem } from '../../platform/http/problem.ts'
import { endpoint } from '../endpoint.ts'
import { beginTotp as begin, findTotp } from './credentials.store.ts'
import { problems } from './problems.ts'
import { newTotp } from './totp.ts'

export const beginTotp = endpoint({
  id: 'beginTotp',
  method: 'POST',
  path: '/v1/totp',
  summary: 'Begin to set up an authenticator app',
  description: 'Nothing changes before `PUT /v1/totp` has a code of it. Begun again, the secret before it is dropped.',
  access: { account: 'own', scope: 'owner' },
  proof: true,
  response: Type.Object(
    {
      secret: Type.String({ description: 'Base32, for apps without a camera', examples: ['JBSWY3DPEHPK3PXP'] }),
      uri: Type.String({
        description: 'What a QR code for the app says',
        examples: ['otpauth://totp/Stead:owner%40example.com?issuer=Stead&secret=JBSWY3DPEHPK3PXP'],
      }),
    },
    { title: 'TotpSecret' },
  ),
  problems: [problems.totp_active],

  async handle({ tx, caller, sealer }) {
    if ((await findTotp(tx, caller.accountId))?.isConfirmed) throw new Problem(problems.totp_active, {})
    const { sealed, secret, uri } = newTotp(sealer, caller.accountEmail)
    await begin(tx, caller.accountId, sealed)
    return { secret, uri }
  },
})
