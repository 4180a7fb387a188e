import { constants } from 'node:fs'
import { access, mkdir } from 'node:fs/promises'
import { OperatorError } from '../operator-error.ts'

/** Makes the folder unless it is there. @param variable the setting to change, for the message @throws OperatorError */
export async function usableFolder(folder: string, mode: number, variable: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode })
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason = reasons[code ?? ''] ?? `cannot be used (${code})`
    throw new OperatorError(`The folder ${folder} ${reason}. Choose another with ${variable}.`, { cause: error })
  }
}

const reasons: Record<string, string> = {
  EEXIST: 'is a file',
  ENOTDIR: 'lies below something that is no folder',
  EACCES: "may not be written by Stead's user",
  EPERM: "may not be written by Stead's user",
  EROFS: 'lies on a file system that is read-only',
  ENOSPC: 'cannot be made: the disk is full',
}
