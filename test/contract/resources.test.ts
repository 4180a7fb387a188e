/** What the files of a resource declare is what its index adds: nothing that stands there is left out of the composition. */
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, it } from 'vitest'
import { operations } from '../../src/app.ts'
import { controlJobs, hostJobs } from '../../src/jobs.ts'
import { resources } from '../../src/resources/index.ts'
import { schedules } from '../../src/schedules.ts'

const files = globSync('src/{resources,platform}/**/*.ts').filter((file) => !/\.(test|fixture)\.ts$/.test(file))
const text = files.map((file) => readFileSync(file, 'utf8')).join('\n')
const declared = (pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name]) => name as string).sort()

it('every folder of src/resources is a resource that is listed', () => {
  const folders = globSync('src/resources/*/').map((path) => `./${basename(path)}/index.ts`)
  const listed = [...readFileSync('src/resources/index.ts', 'utf8').matchAll(/from '(.*)'/g)].map(([, path]) => path)
  expect(listed.toSorted()).toEqual(folders.toSorted())
  expect(resources.length).toBe(folders.length)
})

it('every operation that a file declares is served', () => {
  const ids = declared(/^export const \w+ = operation\(\{\s*id: '(\w+)'/gm)
  expect(operations.map(({ id }) => id).sort()).toEqual(ids)
})

it('every job that a file declares is done by some part', () => {
  const names = declared(/^export const \w+ = durable(?:With<[^(]*>\(\))?\(\{\s*name: '([\w.]+)'/gm)
  expect([...hostJobs, ...controlJobs].map(({ name }) => name).sort()).toEqual(names)
})

it('every schedule that a file declares is kept', () => {
  const names = declared(/^export const \w+ = schedule\(\{\s*name: '([\w.]+)'/gm)
  expect(schedules.map(({ name }) => name).sort()).toEqual(names)
})
