import { hkdfSync, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileOnce } from '../files/write-file.ts'
import { OperatorError } from '../operator-error.ts'

/** Returns the path of the key in a data folder, unless the settings contain the key. */
export const masterKeyFile = ({ dataDir }: { readonly dataDir: string }): string => join(dataDir, 'master.key')

/**
 * Reads the master key from a file; `undefined` if it does not exist.
 * @throws OperatorError when its content is not a key
 */
export async function readMasterKey(file: string): Promise<Buffer | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new OperatorError(`${file} cannot be read (${code}). Stead's user must own it.`, { cause: error })
  }
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== 32)
    throw new OperatorError(`${file} does not contain a master key (32 bytes in base64). Restore it from a backup.`)
  return key
}

/** Creates the file with a new key. If several processes do so at once, one key wins. */
export async function makeMasterKey(file: string): Promise<Buffer> {
  await writeFileOnce(file, randomBytes(32).toString('base64'), 0o600)
  return (await readMasterKey(file)) as Buffer
}

/** Returns a mark that identifies the key without revealing it. It is stored with the secrets sealed under the key. */
export const markOfKey = (key: Buffer): string =>
  Buffer.from(hkdfSync('sha256', key, '', 'stead mark of the master key', 16)).toString('hex')
