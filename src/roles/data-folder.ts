import { usableFolder } from '../platform/files/usable-folder.ts'

/** Sites' users pass through it to their own folders, and read nothing else. */
export const usableDataFolder = (dataDir: string): Promise<void> => usableFolder(dataDir, 0o711, 'STEAD_DATA_DIR')
