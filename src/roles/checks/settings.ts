import { stat } from 'node:fs/promises'
import { testSettingsInForce } from '../../config.ts'
import { masterKeyFile } from '../../platform/crypto/master-key.ts'
import { type Check, type Finding, ok, problem, warning } from './check.ts'

/** Checks the effects of settings. Their syntax is already valid when they are read. */
export const settingsCheck: Check = {
  area: 'settings',
  async run({ config }) {
    const found: Finding[] = []
    const tests = testSettingsInForce(config)
    if (tests.length > 0)
      found.push(
        warning(`Settings for tests are on: ${tests.join(', ')}.`, 'Unset them on an installation that others use.'),
      )
    const file = masterKeyFile(config)
    const key = config.masterKey ? undefined : await stat(file).catch(() => undefined)
    if (key && (key.mode & 0o077) !== 0)
      found.push(
        problem(`Other users can read the master key: ${file}.`, `Run chmod 600 ${file}, and check who had access.`),
      )
    return found.length > 0 ? found : [ok('The settings are valid.')]
  },
}
