import { listPhpLog } from './list-php-log.ts'
import { listServerLog } from './list-server-log.ts'

export const logs = { operations: [listServerLog, listPhpLog] }
