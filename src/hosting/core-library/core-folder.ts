import { join } from 'node:path'

/** Where the unpacked cores of a data folder lie. */
export const coresFolder = (dataDir: string): string => join(dataDir, 'cores')

/** Folder of one unpacked core. */
export const coreFolder = (dataDir: string, version: string): string => join(coresFolder(dataDir), version)
