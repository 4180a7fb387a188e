import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { writeFileOnce } from '../../platform/files/write-file.ts'

/** What clients know the server by: a file in the data folder, made once, whoever comes first. */
export async function sftpHostKey(dataDir: string): Promise<string> {
  const file = join(dataDir, 'sftp-host-key')
  const known = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (known === undefined) await writeFileOnce(file, newKey(), 0o600)
  const key = known ?? (await readFile(file, 'utf8'))
  if (isReadable(key)) return key
  throw new Error(
    `${file} is no private key in OpenSSH's format. Bring it back from a backup, or remove it: then Stead makes a new one, and clients warn that the server is another.`,
  )
}

/** One of 256 keys that ssh2 1.17 makes begins with a zero byte that it leaves out, and cannot be read then. */
export function newKey(): string {
  const key = ssh2.utils.generateKeyPairSync('ed25519').private
  return isReadable(key) ? key : newKey()
}

function isReadable(key: string): boolean {
  return !(ssh2.utils.parseKey(key) instanceof Error)
}
