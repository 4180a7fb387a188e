import type { Config } from '../../config.ts'

/**
 * Returns whether all hosts share one backup storage. For a folder, this trusts the setting. A host that does not see
 * the same folder finds out before it changes anything.
 */
export const haveStorageInCommon = ({ backupS3Bucket, backupDir }: Pick<Config, 'backupS3Bucket' | 'backupDir'>) =>
  backupS3Bucket !== undefined || backupDir !== undefined
