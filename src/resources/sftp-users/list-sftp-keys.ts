import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { listSftpKeys } from './sftp-user.store.ts'
import { presentSftpKey, SftpKeySchema, sftpUserOf, UserParams } from './sftp-user.ts'

export const listSftpKeysOfUser = endpoint({
  id: 'listSftpKeys',
  method: 'GET',
  path: '/v1/sites/{site_id}/ftp/{username}/keys',
  summary: "List an SFTP user's public keys",
  description: 'Returns the keys ordered by id.',
  access: { site: 'use SFTP' },
  params: UserParams,
  response: Type.Array(SftpKeySchema),

  async handle({ tx, site }, { params }) {
    const user = await sftpUserOf(tx, site.id, params.username)
    return (await listSftpKeys(tx, user.id)).map(presentSftpKey)
  },
})
