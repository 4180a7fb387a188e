import { existsSync } from 'node:fs'

const SETPRIV = '/usr/bin/setpriv'

/**
 * Words before those of a program that is to end with this process, however that ends: nobody would end it afterwards. None where the machine has
 * no setpriv(1).
 */
export const endsWithUs: readonly string[] = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'KILL', '--'] : []
