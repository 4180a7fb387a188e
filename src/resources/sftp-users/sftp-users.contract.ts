import { expect } from 'vitest'
import type { Contract, JobSample, ProblemCase } from '../../../test/support/contract.ts'
import { aboutSite } from '../../../test/support/job-worlds.ts'
import {
  type Example,
  type Examples,
  onSite,
  type Sample,
  type Scene,
  type World,
} from '../../../test/support/samples.ts'
import { siteIs } from '../../../test/support/scenes.ts'
import { MOST_KEYS } from './sftp-user.ts'
import { newKey } from './sftp-users.fixture.ts'

/** The name from `test/support/api.ts`. */
const one = (rest: string) => (world: World) => onSite(`/ftp${rest.replace('{user}', `sftp-${world.site}`)}`)(world)

/** The user of the scene's owner. */
async function usernameIn({ owner, siteId }: Scene): Promise<string> {
  const { body } = await owner.call('GET', `/v1/sites/${siteId}/ftp`)
  return body.data[0].username
}

/** Adds a key to that user. */
async function withSftpKey(scene: Scene, publicKey = newKey()): Promise<Required<Pick<Example, 'params' | 'body'>>> {
  const username = await usernameIn(scene)
  const path = `/v1/sites/${scene.siteId}/ftp/${username}/keys`
  const { body } = await scene.owner.call('POST', path, { public_key: publicKey })
  return { params: { username, id: body.data.id }, body: { public_key: publicKey } }
}

async function withKey(world: World, api: Parameters<NonNullable<Sample['prepare']>>[1]): Promise<void> {
  await api.database.transaction(async (tx) => {
    const user = tx.selectFrom('sftp_users').select('id').where('site_id', '=', world.site)
    const { id } = await user.executeTakeFirstOrThrow()
    await tx.deleteFrom('sftp_keys').where('id', '=', 1).execute()
    const values = { name: '', type: 'ssh-ed25519', fingerprint: 'walked', public_key: '', created_at: 1 }
    await tx
      .insertInto('sftp_keys')
      .values({ id: 1, site_id: world.site, user_id: id, added_by: world.owner.accountId, ...values })
      .execute()
  })
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listSftpUsers', path: onSite('/ftp'), roles: ['sftp_access'] },
  { endpoint: 'getSftpUser', path: one('/{user}'), roles: ['sftp_access'] },
  { endpoint: 'resetSftpPassword', path: one('/password/{user}'), roles: ['sftp_access'] },
  { endpoint: 'listSftpKeys', path: one('/{user}/keys'), roles: ['sftp_access'] },
  { endpoint: 'addSftpKey', path: one('/{user}/keys'), body: () => ({ public_key: newKey() }), roles: ['sftp_access'] },
  { endpoint: 'deleteSftpKey', path: one('/{user}/keys/1'), roles: ['sftp_access'], prepare: withKey },
  { endpoint: 'disconnectSsh', path: onSite('/disconnect-ssh'), roles: ['sftp_access'] },
]

const examples: Examples = {
  getSftpUser: async (scene) => ({ params: { username: await usernameIn(scene) } }),
  resetSftpPassword: async (scene) => ({ params: { username: await usernameIn(scene) } }),
  listSftpKeys: async (scene) => ({ params: { username: await usernameIn(scene) } }),
  addSftpKey: async (scene) => ({ params: { username: await usernameIn(scene) }, body: { public_key: newKey() } }),
  deleteSftpKey: async (scene) => ({ params: (await withSftpKey(scene)).params }),
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['disconnectSsh'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
  { of: ['disconnectSsh'], code: 'site_unavailable', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId) },
  { of: ['disconnectSsh'], code: 'site_cannot', prepare: async ({ siteId }, { tour }) => tour.failWork(siteId, { forGood: true }) },
  { of: ['addSftpKey'], code: 'sftp_key_known', example: withSftpKey },
  { of: ['addSftpKey'], code: 'sftp_key_limit_reached', prepare: async (scene) => { for (let i = 0; i < MOST_KEYS; i++) await withSftpKey(scene) } },
]

const events: Contract['events'] = {
  resetSftpPassword: ['sftp_user_password_reset'],
}

const jobs: Record<string, JobSample> = {
  'sftp.disconnect': {
    prepare: aboutSite,
    async done({ host, site }) {
      expect(host.disconnected).toContain(site)
    },
  },
}

export const contract: Contract = { samples, examples, problems, events, jobs }
