import { hkdfSync, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileOnce } from '../files/write-file.ts'
import { OperatorError } from '../operator-error.ts'

/** Where a data folder keeps it, unless the settings give one. */
export const masterKeyFile = ({ dataDir }: { readonly dataDir: string }): string => join(dataDir, 'master.key')

/** The master key that lies in a file; `undefined` when there is no file. @throws OperatorError when it holds something else */
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

/** Makes the file with a new key; safe when several processes do at once: one key wins. */
export async function makeMasterKey(file: string): Promise<Buffer> {
  await writeFileOnce(file, randomBytes(32).toString('base64'), 0o600)
  return (await readMasterKey(file)) as Buffer
}

/** Tells keys apart and says nothing of the key: kept beside what is sealed under it. */
export const markOfKey = (key: Buffer): string =>
  Buffer.from(hkdfSync('sha256', key, '', 'stead mark of the master key', 16)).toString('hex')
