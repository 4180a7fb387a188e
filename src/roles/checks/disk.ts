import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type DiskState, FreeRoom } from '../../platform/files/free-room.ts'
import { folderFault } from '../../platform/files/usable-folder.ts'
import { type Check, type Finding, ok, problem, warning } from './check.ts'

const MB = 1 << 20
/** Below this share of free inodes, a file system counts as full. */
const FEW_INODES = 0.02
const FREE = 'Delete data that you do not need, or enlarge the file system.'

/** The functions that no longer work, by the state of the disk. */
const lost: Readonly<Record<Exclude<DiskState, 'ok'>, string>> = {
  sites: 'sites cannot write',
  records: 'sites cannot write, and Stead keeps no access logs and page views',
  essential: 'Stead uses its disk reserve',
}

export const diskCheck: Check = {
  area: 'disk',
  async run({ config }) {
    const { dataDir, backupDir } = config
    const folders = [{ folder: dataDir, variable: 'STEAD_DATA_DIR' }]
    if (backupDir !== undefined && config.backupS3Bucket === undefined)
      folders.push({ folder: backupDir, variable: 'STEAD_BACKUP_DIR' })
    const found = await Promise.all(folders.map((each) => look(each, config.diskReserveMb * MB)))
    return found.flat()
  },
}

async function look(
  { folder, variable }: { readonly folder: string; readonly variable: string },
  reserveBytes: number,
): Promise<Finding[]> {
  // The first start creates a missing folder.
  const existing = nearest(folder)
  const fault = await folderFault(existing, variable)
  if (fault) throw fault
  const { freeBytes, state } = new FreeRoom(existing, reserveBytes)
  const free = `${Math.floor(freeBytes / MB).toLocaleString('en')} MB are free in ${folder}`
  const { files, ffree } = await statfs(existing)
  const found = [state === 'ok' ? ok(`${free}.`) : problem(`${free}: ${lost[state]}.`, FREE)]
  if (files > 0 && ffree / files < FEW_INODES)
    found.push(warning(`The file system of ${folder} is running out of inodes: ${ffree} of ${files} are free.`, FREE))
  return found
}

const nearest = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder))
