import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { Log } from '../../platform/log/log.ts'
import type { InstallationCheck } from '../../resources/installation/installation-check.ts'
import { logProblems } from './of-control.ts'
import type { AsksOutside } from './run-checks.ts'

test('a start logs problems and warnings, and contacts only what backups, mails, and codes need', async () => {
  const logged = Promise.withResolvers<void>()
  const lines: object[] = []
  const log = pino(
    { level: 'warn' },
    { write: (line) => void (lines.push(JSON.parse(line)) === 2 && logged.resolve()) },
  )
  const found: InstallationCheck[] = (['ok', 'warning', 'skipped', 'problem'] as const).map((state) => ({
    ...{ area: 'disk', state, text: `It is ${state}.`, remedy: state === 'problem' ? 'Mend it.' : null },
  }))
  const asked: AsksOutside[] = []
  logProblems(
    log as Log,
    async (asksOutside) => {
      asked.push(asksOutside)
      return { at: 1, found }
    },
    1,
  )
  await logged.promise
  expect(lines).toMatchObject([
    { msg: 'It is warning.' },
    { msg: 'It is problem.', area: 'disk', state: 'problem', remedy: 'Mend it.' },
  ])
  expect(asked).toEqual([['clock', 'storage', 'mail']])
})
