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
  if (known !== undefined) return known
  await writeFileOnce(file, ssh2.utils.generateKeyPairSync('ed25519').private, 0o600)
  return readFile(file, 'utf8')
}
