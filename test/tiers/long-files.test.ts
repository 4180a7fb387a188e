import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { leftToSystem, longFiles } from './long-files.ts'
import { startFirst } from './start-first.ts'

const fuzz = 'test/contract/fuzz.test.ts'

test('each listed file exists, in both lists', () => {
  expect([...longFiles, ...startFirst].filter((file) => !existsSync(join(import.meta.dirname, '../..', file)))).toEqual(
    [],
  )
})

test('a folder runs without its long files, and naming a file runs it', () => {
  expect(leftToSystem(undefined, ['vitest', 'test/contract'])).toContain(fuzz)
  expect(leftToSystem(undefined, ['vitest', `./${fuzz}`])).not.toContain(fuzz)
})

test('PostgreSQL runs all of them', () => {
  expect(leftToSystem('databases', [])).toEqual([])
})
