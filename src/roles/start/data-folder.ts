import { usableFolder } from '../../platform/files/usable-folder.ts'

/** Prepares the data folder. Users of sites pass through it to their own folders, and can read nothing else. */
export const usableDataFolder = (dataDir: string): Promise<void> => usableFolder(dataDir, 0o711, 'STEAD_DATA_DIR')
