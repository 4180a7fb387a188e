import { constants, existsSync } from 'node:fs'
import { access, mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { OperatorError } from '../operator-error.ts'

/**
 * Creates the folder if it does not exist.
 * @param variable the setting to change, for the message
 * @throws OperatorError
 */
export async function usableFolder(folder: string, mode: number, variable: string): Promise<void> {
  const fault = await makeFolders(resolve(folder), mode).then(
    () => folderFault(folder, variable),
    async (error) => faultOf(await whyNotCreated(folder, error), folder, variable),
  )
  if (fault) throw fault
}

/** Like a recursive `mkdir`, which never ends where a file system allows no folders, as below `/proc`. */
async function makeFolders(folder: string, mode: number): Promise<void> {
  const above = dirname(folder)
  const make = () =>
    mkdir(folder, { mode }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  try {
    await make()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    // Another process may have created it meanwhile.
    if (!existsSync(above)) await makeFolders(above, mode)
    await make()
  }
}

/**
 * Returns the fault of the nearest existing folder above. On a read-only disk, Node reports ENOENT for folders below
 * it.
 */
async function whyNotCreated(folder: string, error: NodeJS.ErrnoException): Promise<NodeJS.ErrnoException> {
  if (error.code !== 'ENOENT') return error
  for (let above = dirname(resolve(folder)); ; above = dirname(above)) {
    const fault = await access(above, constants.W_OK).then(
      () => error,
      (found: NodeJS.ErrnoException) => found,
    )
    if (fault.code !== 'ENOENT' || above === dirname(above)) return fault
  }
}

/** Returns why an existing folder cannot be used. */
export async function folderFault(folder: string, variable: string): Promise<OperatorError | undefined> {
  try {
    if (!(await stat(folder)).isDirectory()) return faultOf({ code: 'EEXIST' }, folder, variable)
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    return faultOf(error as NodeJS.ErrnoException, folder, variable)
  }
}

function faultOf(error: { readonly code?: string }, folder: string, variable: string): OperatorError {
  const reason = reasons[error.code ?? ''] ?? `cannot be used (${error.code})`
  return new OperatorError(`The folder ${folder} ${reason}. Choose another with ${variable}.`, { cause: error })
}

const reasons: Record<string, string> = {
  EEXIST: 'is a file',
  ENOENT: 'cannot be created on this file system',
  ENOTDIR: 'is below a path that is not a folder',
  EACCES: 'is not writable for the user of Stead',
  EPERM: 'is not writable for the user of Stead',
  EROFS: 'is on a read-only file system',
  ENOSPC: 'cannot be created: the disk is full',
}
