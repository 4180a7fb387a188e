import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The program folders of a machine, including those for administrators, which the search paths of users and services
 * often lack.
 */
export const programFolders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'] as const

/**
 * Returns the first of these that is a program.
 * @param paths absolute
 */
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

/** Returns the path of a program on this machine; undefined if it is missing. */
export const findProgram = (name: string): Promise<string | undefined> =>
  firstProgram(programFolders.map((folder) => join(folder, name)))
