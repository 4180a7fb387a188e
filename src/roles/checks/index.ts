import { certificateCheck } from './certificates.ts'
import type { Check } from './check.ts'
import { clockCheck } from './clock.ts'
import { databaseCheck } from './database.ts'
import { diskCheck } from './disk.ts'
import { limitsCheck } from './limits.ts'
import { mailCheck } from './mail.ts'
import { mariaDbCheck } from './mariadb.ts'
import { dnsCheck, namesCheck } from './names.ts'
import { phpCheck } from './php.ts'
import { portsCheck } from './ports.ts'
import { reservedNamesCheck } from './reserved-names.ts'
import { settingsCheck } from './settings.ts'
import { storageCheck } from './storage.ts'
import { vulnerabilityFeedCheck } from './vulnerability-feed.ts'

/** All checks. A start, `stead doctor`, and the API share this list. */
export const checks: readonly Check[] = [
  settingsCheck,
  vulnerabilityFeedCheck,
  diskCheck,
  databaseCheck,
  mariaDbCheck,
  clockCheck,
  portsCheck,
  namesCheck,
  reservedNamesCheck,
  dnsCheck,
  certificateCheck,
  storageCheck,
  mailCheck,
  phpCheck,
  limitsCheck,
]
