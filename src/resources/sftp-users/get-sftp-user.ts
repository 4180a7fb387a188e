import { endpoint } from '../kit/endpoint.ts'
import { presentSftpUser, SftpUserSchema, sftpUserOf, UserParams } from './sftp-user.ts'

export const getSftpUser = endpoint({
  id: 'getSftpUser',
  method: 'GET',
  path: '/v1/sites/{site_id}/ftp/{username}',
  summary: 'Get an SFTP user',
  access: { site: 'use SFTP' },
  params: UserParams,
  response: SftpUserSchema,
  etag: true,

  handle: async ({ tx, site, config }, { params }) =>
    presentSftpUser(await sftpUserOf(tx, site.id, params.username), config),
})
