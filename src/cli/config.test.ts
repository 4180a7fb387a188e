import { afterEach, expect, test, vi } from 'vitest'
import { readConfig } from '../config.ts'
import { findPrograms } from '../hosting/mariadb/server/programs.ts'
import { OperatorError } from '../platform/operator-error.ts'
import { print } from './config.ts'

vi.mock('../hosting/mariadb/server/programs.ts')
afterEach(() => vi.restoreAllMocks())

const said = async (env: Record<string, string>) => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  await print({ config: readConfig(env), flags: { json: false } } as never)
  return log.mock.calls.flat().join('\n')
}

test('reports that a start is refused if MariaDB is set to `own` but is not installed', async () => {
  vi.mocked(findPrograms).mockRejectedValue(new OperatorError('MariaDB is not installed'))
  const text = await said({ STEAD_RUNTIME: 'auto', STEAD_MARIADB: 'own' })
  expect(text).toContain('# Stead does not start on this server: MariaDB is not installed')
  expect(text).not.toContain('New sites with PHP')
})

test('reports what runs new sites', async () => {
  for (const env of [{}, { STEAD_RUNTIME: 'wasm', STEAD_MARIADB_URL: 'mariadb://a:b@db.example:3306' }])
    expect(await said(env as Record<string, string>)).toContain(
      '# New sites with PHP 8.2 on this server: PHP in WebAssembly, SQLite',
    )
})
