import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'
import { deleteSftpKey } from './sftp-user.store.ts'
import { sftpUserOf, UserParams } from './sftp-user.ts'

export const removeSftpKey = endpoint({
  id: 'deleteSftpKey',
  method: 'DELETE',
  path: '/v1/sites/{site_id}/ftp/{username}/keys/{id}',
  summary: 'Remove a public key from an SFTP user',
  description: 'Ends all connections of the user.',
  access: { site: 'use SFTP' },
  params: Type.Object({
    ...UserParams.properties,
    id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  }),
  response: Nothing,

  async handle(context, { params }) {
    const { tx, site, now } = context
    const user = await sftpUserOf(tx, site.id, params.username)
    const key = await deleteSftpKey(tx, user.id, params.id, now)
    if (!key) throw notFound()
    await context.record({
      action: actions['sftp_user.key_removed'],
      message: `Removed the key ${key.fingerprint} from the SFTP user ${user.username}`,
    })
    return null
  },
})
