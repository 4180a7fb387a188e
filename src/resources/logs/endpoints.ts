import { countPhpLog } from './count-php-log.ts'
import { listPhpLog } from './list-php-log.ts'
import { listServerLog } from './list-server-log.ts'

/** In the order of the API description. */
export const endpoints = [listServerLog, listPhpLog, countPhpLog]
