import Type from 'typebox'
import { KeyRefused, readPublicKey } from '../../hosting/sftp/public-key.ts'
import { invalidInput, Problem } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { actions } from './actions.ts'
import { problems } from './problems.ts'
import { insertSftpKey, listSftpKeys } from './sftp-user.store.ts'
import { MOST_KEYS, presentSftpKey, SftpKeySchema, sftpUserOf, UserParams } from './sftp-user.ts'

export const addSftpKey = endpoint({
  id: 'addSftpKey',
  method: 'POST',
  path: '/v1/sites/{site_id}/ftp/{username}/keys',
  summary: 'Add a public key to an SFTP user',
  description:
    'Anyone with the private key can log in as the user. A key that a collaborator added is valid while that collaborator has the role `sftp_access`.',
  access: { site: 'use SFTP' },
  params: UserParams,
  body: Type.Object(
    {
      public_key: Type.String({
        maxLength: 8192,
        description:
          'A line as in `~/.ssh/id_ed25519.pub`. Accepts ssh-ed25519, ecdsa-sha2-nistp…, and ssh-rsa with at least 2,048 bits',
        examples: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBxSxnVbFVFF9zWQ6Ky5hLYDZ1GlDbrnAjGYgdzvCT8P me@laptop'],
      }),
    },
    { title: 'NewSftpKey' },
  ),
  response: SftpKeySchema,
  problems: [problems.sftp_key_limit_reached, problems.sftp_key_known],

  async handle(context, { params, body }) {
    const { tx, site, caller, now } = context
    const key = await readKey(body.public_key)
    const user = await sftpUserOf(tx, site.id, params.username)
    const others = await listSftpKeys(tx, user.id)
    if (others.some(({ fingerprint }) => fingerprint === key.fingerprint))
      throw new Problem(problems.sftp_key_known, {})
    if (others.length >= MOST_KEYS) throw new Problem(problems.sftp_key_limit_reached, { limit: MOST_KEYS })
    const added = await insertSftpKey(tx, user, { ...key, by: caller.accountId, now })
    await context.record({
      action: actions['sftp_user.key_added'],
      message: `Added the key ${key.fingerprint} to the SFTP user ${user.username}`,
    })
    return presentSftpKey(added)
  },
})

/** @throws Problem `invalid_input` */
async function readKey(line: string) {
  try {
    return await readPublicKey(line)
  } catch (error) {
    if (error instanceof KeyRefused) throw invalidInput([`public_key: ${error.message}`])
    throw error
  }
}
