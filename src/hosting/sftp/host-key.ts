import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { writeFileOnce } from '../../platform/files/write-file.ts'

/**
 * Returns the key by which clients recognize the server. It is a file in the data folder, which the first caller
 * creates.
 */
export async function sftpHostKey(dataDir: string): Promise<string> {
  const file = join(dataDir, 'sftp-host-key')
  const known = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (known === undefined) await writeFileOnce(file, newKey(), 0o600)
  const key = known ?? (await readFile(file, 'utf8'))
  if (isReadable(key)) return key
  throw new Error(
    `${file} is not a private key in OpenSSH's format. Restore it from a backup, or remove it. Stead then creates a new one, and clients warn that the server has changed.`,
  )
}

/** For one key in 256, ssh2 1.17 omits a leading zero byte, which makes the key unreadable. */
export function newKey(): string {
  const key = ssh2.utils.generateKeyPairSync('ed25519').private
  return isReadable(key) ? key : newKey()
}

function isReadable(key: string): boolean {
  return !(ssh2.utils.parseKey(key) instanceof Error)
}
