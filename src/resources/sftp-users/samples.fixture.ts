import { generateKeyPairSync } from 'node:crypto'
import {
  type Example,
  type Examples,
  onSite,
  type Sample,
  type Scene,
  type World,
} from '../../../test/support/samples.ts'

/** The name from `test/support/api.ts`. */
const one = (rest: string) => (world: World) => onSite(`/ftp${rest.replace('{user}', `sftp-${world.site}`)}`)(world)

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'listSftpUsers', path: onSite('/ftp'), roles: ['sftp_access'] },
  { endpoint: 'getSftpUser', path: one('/{user}'), roles: ['sftp_access'] },
  { endpoint: 'resetSftpPassword', path: one('/password/{user}'), roles: ['sftp_access'] },
  { endpoint: 'listSftpKeys', path: one('/{user}/keys'), roles: ['sftp_access'] },
  { endpoint: 'addSftpKey', path: one('/{user}/keys'), body: () => ({ public_key: newKey() }), roles: ['sftp_access'] },
  { endpoint: 'deleteSftpKey', path: one('/{user}/keys/1'), roles: ['sftp_access'], prepare: withKey },
  { endpoint: 'disconnectSsh', path: onSite('/disconnect-ssh'), roles: ['sftp_access'] },
]

export const examples: Examples = {
  getSftpUser: async (scene) => ({ params: { username: await usernameIn(scene) } }),
  resetSftpPassword: async (scene) => ({ params: { username: await usernameIn(scene) } }),
  listSftpKeys: async (scene) => ({ params: { username: await usernameIn(scene) } }),
  addSftpKey: async (scene) => ({ params: { username: await usernameIn(scene) }, body: { public_key: newKey() } }),
  deleteSftpKey: async (scene) => ({ params: (await withSftpKey(scene)).params }),
}

/** The user of the scene's owner. */
export async function usernameIn({ owner, siteId }: Scene): Promise<string> {
  const { body } = await owner.call('GET', `/v1/sites/${siteId}/ftp`)
  return body.data[0].username
}

/** Adds a key to that user. */
export async function withSftpKey(
  scene: Scene,
  publicKey = newKey(),
): Promise<Required<Pick<Example, 'params' | 'body'>>> {
  const username = await usernameIn(scene)
  const path = `/v1/sites/${scene.siteId}/ftp/${username}/keys`
  const { body } = await scene.owner.call('POST', path, { public_key: publicKey })
  return { params: { username, id: body.data.id }, body: { public_key: publicKey } }
}

/** A line as in `~/.ssh/id_ed25519.pub`, of a key that nobody has. */
export function newKey(comment = 'me@laptop'): string {
  const { publicKey } = generateKeyPairSync('ed25519')
  const { x } = publicKey.export({ format: 'jwk' })
  const fields = [Buffer.from('ssh-ed25519'), Buffer.from(x as string, 'base64url')]
  const blob = Buffer.concat(fields.flatMap((field) => [lengthOf(field), field]))
  return `ssh-ed25519 ${blob.toString('base64')} ${comment}`
}

function lengthOf(field: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(field.length)
  return length
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
