import { join } from 'node:path'

/** Returns the folder of a data folder's unpacked cores. */
export const coresFolder = (dataDir: string): string => join(dataDir, 'cores')

/** Returns the folder of one unpacked core. */
export const coreFolder = (dataDir: string, version: string): string => join(coresFolder(dataDir), version)
