import { addSftpKey } from './add-sftp-key.ts'
import { removeSftpKey } from './delete-sftp-key.ts'
import { disconnectSsh } from './disconnect-ssh.ts'
import { getSftpUser } from './get-sftp-user.ts'
import { listSftpKeysOfUser } from './list-sftp-keys.ts'
import { listSftpUsersOfSite } from './list-sftp-users.ts'
import { resetSftpPassword } from './reset-sftp-password.ts'

/** In the order of the API description. */
export const endpoints = [
  listSftpUsersOfSite,
  getSftpUser,
  resetSftpPassword,
  listSftpKeysOfUser,
  addSftpKey,
  removeSftpKey,
  disconnectSsh,
]
