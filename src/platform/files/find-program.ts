import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'

/** Where a machine has its programs, those for administrators included, which the search paths of users and services often leave out. */
export const programFolders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'] as const

/** The first of these that is a program. @param paths absolute */
export async function firstProgram(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  return undefined
}

/** Where this machine has a program; undefined: nowhere. */
export const findProgram = (name: string): Promise<string | undefined> =>
  firstProgram(programFolders.map((folder) => join(folder, name)))
