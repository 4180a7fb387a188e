/** What other folders may import from this resource. */
export { createSftpAccess } from './sftp-access.ts'
export { deleteSftpUser, findSftpUser, insertSftpUser } from './sftp-user.store.ts'
export { hasSftpAccess } from './sftp-user.ts'
