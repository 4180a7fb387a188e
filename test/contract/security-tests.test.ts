/** The page of tried attacks names existing tests. Without this test, a group whose file moved would look untested. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

test('every test that the page names exists', () => {
  const page = readFileSync(join(root, 'docs/design/security-tests.md'), 'utf8')
  const named = [...page.matchAll(/^\|.*\| `(\S+\.ts)` \|$/gm)].map(([, file = '']) => file)
  const rows = page.split('\n').filter((line) => line.startsWith('|') && line.includes('`'))
  expect(named).toHaveLength(rows.length)
  expect(named.length).toBeGreaterThan(60)
  expect(named.filter((file) => !existsSync(join(root, file)) && !existsSync(join(root, 'src', file)))).toEqual([])
})
