/** The index of a resource adds everything that its files declare. */
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, it } from 'vitest'
import { endpoints } from '../../src/app.ts'
import { controlJobs, hostJobs } from '../../src/jobs.ts'
import { eventTexts } from '../../src/panel/texts/events.ts'
import { resources } from '../../src/resources/index.ts'
import { schedules } from '../../src/schedules.ts'
import { testDatabase } from '../support/database.ts'
import { examples, samples } from './samples.ts'

const files = globSync('src/{resources,platform}/**/*.ts').filter((file) => !/\.(test|fixture)\.ts$/.test(file))
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
  expect(endpoints.map(({ id }) => id).sort()).toEqual(ids)
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
  const ids = endpoints.map(({ id }) => id)
  const named = [...samples.map(({ endpoint }) => endpoint), ...Object.keys(examples)]
  expect(named.filter((id) => !ids.includes(id))).toEqual([])
})

it('every declared job has a role that runs it', () => {
  const names = declared(/^export const \w+ = durable(?:With<[^(]*>\(\))?\(\{\s*name: '([\w.]+)'/gm)
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

/** The names for webhook receivers. */
const EVENT_NAMES =
  `site_created site_deleted site_converted site_enabled site_disabled site_restored site_restore_failed
  site_sync_success site_sync_failed site_maintenance_mode_toggled site_plugin_installed_successfully
  site_plugin_install_failed site_plugin_updated_successfully site_plugin_update_failed
  site_plugin_activated_successfully site_plugin_activation_failed site_plugin_deactivated_successfully
  site_plugin_deactivation_failed site_plugin_deleted_successfully site_plugin_delete_failed mu_plugin_install_success
  mu_plugin_install_failed mu_plugin_update_success mu_plugin_update_failed mu_plugin_deleted ondemand_backup_created
  ondemand_backup_deleted php_version_changed wp_environment_type wp_version_changed wp_admin_password_reset
  light_weight_404_changed collaborator_added collaborator_deleted sftp_user_password_reset enabled_edge_cache
  disabled_edge_cache purged_edge_cache edge_cache_defensive_mode_toggled primary_domain_set domain_added domain_removed
  domain_claimed domain_claim_ended
  site_imported site_import_failed
  performance_report_created`.split(/\s+/)

it('the panel has a name for each event', () => {
  const offered = Object.values(eventTexts).flatMap((each) => Object.keys(each))
  expect(offered.sort()).toEqual(resources.flatMap(({ events }) => Object.keys(events ?? {})).sort())
})

it('events have the names that receivers know', () => {
  const names = resources.flatMap(({ events }) => Object.keys(events ?? {}))
  expect(names.length).toBeGreaterThan(10)
  expect(names.filter((name) => !EVENT_NAMES.includes(name))).toEqual([])
})
