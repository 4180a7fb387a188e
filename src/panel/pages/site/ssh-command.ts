import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { type Loaded, useLoad } from '../../parts/use-load.ts'

export type SftpUser = components['schemas']['SftpUser']

/** The default port of SSH, which commands leave out. */
const SSH_PORT = 22

/** Returns the command that connects a user, or undefined while SFTP is off. */
export function connectBy(
  program: 'ssh' | 'sftp',
  { username, sftpDomain, sftpPort: port }: SftpUser,
): string | undefined {
  if (typeof port !== 'number') return undefined
  const option = port === SSH_PORT ? '' : `${program === 'ssh' ? '-p' : '-P'} ${port} `
  return `${program} ${option}${username}@${sftpDomain}`
}

/** The SFTP users of a site, with the port to connect to. */
export function useSftpUsers(id: number): Loaded<SftpUser[]> {
  const params = { path: { site_id: id }, query: { include: 'port' as const } }
  return useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/ftp', { params })), [id])
}
