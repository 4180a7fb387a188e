import { existsSync } from 'node:fs'

const SETPRIV = '/usr/bin/setpriv'

/**
 * The command prefix of a program that must end with this process, however that ends, because nothing else would end
 * it. Empty if the machine does not have setpriv(1).
 */
export const endsWithUs: readonly string[] = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'KILL', '--'] : []
