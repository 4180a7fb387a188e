/** The index of a resource adds everything that its files declare. */
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, it } from 'vitest'
import { apiEndpoints } from '../../src/app.ts'
import { controlJobs, hostJobs } from '../../src/jobs.ts'
import { eventTexts } from '../../src/panel/texts/events.ts'
import { resources } from '../../src/resources/index.ts'
import { schedules } from '../../src/schedules.ts'
import { testDatabase } from '../support/database.ts'
import { contracts, examples, samples } from './contracts.ts'

const files = globSync('src/{resources,platform}/**/*.ts').filter(
  (file) => !/\.(test|fixture|contract)\.ts$/.test(file),
)
const text = files.map((file) => readFileSync(file, 'utf8')).join('\n')
const declared = (pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name]) => name as string).sort()

/** Folders of `src/resources` that are not resources, but shared by all. */
const shared = ['access', 'kit']

it('every folder of src/resources is a listed resource', () => {
  const own = globSync('src/resources/*/').filter((path) => !shared.includes(basename(path)))
  const folders = own.map((path) => `./${basename(path)}/index.ts`)
  const listed = [...readFileSync('src/resources/index.ts', 'utf8').matchAll(/from '(.*)'/g)].map(([, path]) => path)
  expect(listed.toSorted()).toEqual(folders.toSorted())
  expect(resources.length).toBe(folders.length)
})

it('a folder and the group of its endpoints have the same name', () => {
  const groups = resources.flatMap(({ tag }) => tag?.name.toLowerCase() ?? [])
  const folders = globSync('src/resources/*/endpoints.ts').map((path) => path.split('/')[2])
  expect(groups.toSorted()).toEqual(folders.toSorted())
})

it('every declared endpoint is served', () => {
  const ids = declared(/^export const \w+ = endpoint\(\{\s*id: '(\w+)'/gm)
  expect(apiEndpoints.map(({ id }) => id).sort()).toEqual(ids)
})

it('every table of the migrations is declared once, by its resource', async () => {
  const { database, drop } = await testDatabase('sqlite')
  const made = await database.read.introspection.getTables()
  await drop()
  const places = [
    'src/platform/db/schema.ts',
    ...globSync('src/{resources/*,hosting,edge,backups,certificates}/tables.ts'),
  ]
  const rows = places.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/^ +(\w+): \w+Row$/gm)])
  expect(rows.map(([, table]) => table).sort()).toEqual(made.map(({ name }) => name).sort())
})

it('samples and examples belong to served endpoints', () => {
  const ids = apiEndpoints.map(({ id }) => id)
  const named = [...samples.map(({ endpoint }) => endpoint), ...Object.keys(examples)]
  expect(named.filter((id) => !ids.includes(id))).toEqual([])
})

it('every declared job has a role that runs it', () => {
  const names = declared(/^export const \w+ = (?:durable(?:With<[^(]*>\(\))?|movingJob)\(\{\s*name: '([\w.]+)'/gm)
  expect([...hostJobs, ...controlJobs].map(({ name }) => name).sort()).toEqual(names)
  // In the other list, nothing would ever run it.
  expect(hostJobs.filter(({ on }) => on !== 'host')).toEqual([])
  expect(controlJobs.filter(({ on }) => on !== 'control')).toEqual([])
})

it('every declared schedule is listed', () => {
  const names = declared(/^export const \w+ = schedule\(\{\s*name: '([\w.]+)'/gm)
  expect(schedules.map(({ name }) => name).sort()).toEqual(names)
})

it('the index adds every problem of a resource, and the code throws it', async () => {
  for (const file of globSync('src/resources/*/problems.ts')) {
    const { problems } = await import(/* @vite-ignore */ `../../${file}`)
    expect([file, resources.find((each) => each.problems === problems)?.problems]).toEqual([file, problems])
  }
  const thrown = new Set(declared(/new Problem\(\s*\w*[pP]roblems\.(\w+)/g))
  const unused = resources.flatMap(({ problems }) => Object.keys(problems ?? {})).filter((code) => !thrown.has(code))
  expect(unused).toEqual([])
})

it('the index adds every action and event of a resource, under a unique name', async () => {
  for (const file of globSync('src/resources/*/actions.ts')) {
    const { actions, events } = await import(/* @vite-ignore */ `../../${file}`)
    const added = resources.find((each) => each.actions === actions)
    expect([file, added?.actions, added?.events]).toEqual([file, actions, events])
  }
  for (const kind of ['actions', 'events'] as const) {
    const names = resources.flatMap((each) => Object.keys(each[kind] ?? {}))
    expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([])
  }
})

it('the panel has a name for each event', () => {
  const offered = Object.values(eventTexts).flatMap((each) => Object.keys(each))
  expect(offered.sort()).toEqual(resources.flatMap(({ events }) => Object.keys(events ?? {})).sort())
})

it('a contract is about the endpoints and jobs of its own folder', () => {
  const textOf = (folder: string) =>
    files
      .filter((file) => file.startsWith(`${folder}/`))
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n')
  const foreign = contracts.flatMap(
    ({ folder, samples = [], examples, problems = [], unrecorded, events, ...more }) => {
      const own = textOf(folder)
      const ids = [...samples.map(({ endpoint }) => endpoint), ...problems.flatMap(({ of }) => of)]
      const named = [...ids, ...Object.keys({ ...examples, ...unrecorded, ...events })]
      const jobs = [...Object.keys(more.jobs ?? {}), ...(more.jobRefusals ?? []).map(({ type }) => type)]
      return [
        ...named.filter((id) => !own.includes(`id: '${id}'`)).map((id) => `${folder}: ${id}`),
        ...jobs.filter((name) => !own.includes(`name: '${name}'`)).map((name) => `${folder}: ${name}`),
      ]
    },
  )
  expect(foreign).toEqual([])
})
