import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { hashPassword } from '../../platform/crypto/password.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions, events } from './actions.ts'
import { setSftpPassword } from './sftp-user.store.ts'
import { sftpUserOf, UserParams } from './sftp-user.ts'

export const resetSftpPassword = endpoint({
  id: 'resetSftpPassword',
  method: 'POST',
  path: '/v1/sites/{site_id}/ftp/password/{username}',
  summary: "Reset an SFTP user's password",
  description:
    'Sets a random password and returns it. Save it: Stead does not show it again. Ends all connections of the user. A password that a collaborator created for another user is valid while that collaborator has the role `sftp_access`.',
  access: { site: 'use SFTP' },
  proof: true,
  params: UserParams,
  response: Type.String({ description: 'The new password', examples: ['kT4vXq9sLw2e'] }),

  async handle(context, { params }) {
    const { tx, site, caller, now } = context
    const user = await sftpUserOf(tx, site.id, params.username)
    const password = randomBytes(18).toString('base64url')
    await setSftpPassword(tx, user.id, { hash: await hashPassword(password), by: caller.accountId, now })
    await context.record({
      action: actions['sftp_user.password_reset'],
      message: `Reset the password of the SFTP user ${user.username}`,
      event: { type: events.sftp_user_password_reset, data: { username: user.username } },
    })
    return password
  },
})
