import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startFileServer } from '../test/support/file-server.ts'
import { pluginFile, startPluginDirectory } from '../test/support/plugin-directory.ts'
import { type Stead, startStead } from '../test/support/stead.ts'
import { type Figure, median, percentile, type Section } from './support/report.ts'

const ROUNDS = 5
const SITES = 1000

/**
 * Plugins on one site, and one must-use plugin on a thousand sites that do not run: time, memory, and the effect on
 * visitors.
 */
export async function pluginsBench(): Promise<Section> {
  const directory = await startPluginDirectory()
  for (const version of ['1.0', '1.1'])
    directory.publish('forms', version, { 'forms.php': pluginFile('Forms', version), 'large.txt': 'x'.repeat(1 << 20) })
  const files = await startFileServer()
  files.files.set('/banner.php', pluginFile('Banner', '1.0'))
  const env = { STEAD_WORDPRESS_API: directory.base, STEAD_ALLOW_PRIVATE_FETCH: 'true' }
  const stead = await startStead({ env })
  try {
    const site = await stead.createSite({ name: 'visited' })
    const figures = [...(await onOne(stead, site)), ...(await onMany(stead, `${files.base}/banner.php`))]
    return {
      title: 'Plugins',
      how: `A plugin of 1 MB comes from a directory on this machine, ${ROUNDS} times. The time runs from the request to the end of the operation, which keeps files and database for an undo and checks the front page before and after. Then one must-use plugin is installed on ${SITES} sites, of which one has visitors and no other runs. The visitors request uncached pages of that site, one after the other. Memory is that of the host process. No public reference exists.`,
      figures,
    }
  } finally {
    await stead.remove()
    files.close()
    await directory.close()
  }
}

async function onOne(stead: Stead, site: number): Promise<Figure[]> {
  const took: Record<string, number[]> = {}
  const path = `/v1/sites/${site}/plugins`
  const alone = await visits(stead, pause(10_000))
  const during: number[] = []
  for (let round = 0; round < ROUNDS; round++)
    for (const [what, method, at, plugin] of [
      ['install', 'POST', path, { path: 'forms', version: '1.0' }],
      ['deactivate', 'PUT', `${path}/deactivate`, { path: 'forms' }],
      ['activate', 'PUT', `${path}/activate`, { path: 'forms' }],
      ['update', 'PUT', path, { path: 'forms', version: '1.1' }],
      ['delete', 'DELETE', path, { path: 'forms' }],
    ] as const) {
      const began = performance.now()
      during.push(...(await visits(stead, done(stead, method, at, { plugins: [plugin] }))))
      took[what] = [...(took[what] ?? []), performance.now() - began]
    }
  return [
    ...Object.entries(took).map(([what, all]) => ({ what: `${what}, median`, value: `${Math.round(median(all))} ms` })),
    felt('a visitor meanwhile', during, alone),
  ]
}

async function onMany(stead: Stead, path: string): Promise<Figure[]> {
  await multiply(stead)
  const alone = await visits(stead, pause(10_000))
  const memory = () => (stead.role('host') ? residentMb(stead.role('host')?.pid as number) : 0)
  const before = memory()
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, memory())
  }, 200)
  const began = performance.now()
  const order = done(stead, 'POST', '/v1/mu-plugins', { path, existing_sites: true, future_sites: false })
  const during = await visits(stead, order).finally(() => clearInterval(watch))
  const seconds = (performance.now() - began) / 1000
  const sites = join(stead.directoryOf('visited'), '..')
  const laid = readdirSync(sites).filter((name) =>
    existsSync(join(sites, name, 'web/wp-content/mu-plugins/banner.php')),
  )
  if (laid.length !== SITES) throw new Error(`The must-use plugin is on ${laid.length} sites of ${SITES}`)
  return [
    { what: `a must-use plugin on ${SITES} sites`, value: `${seconds.toFixed(1)} s, ${Math.round(SITES / seconds)}/s` },
    { what: '… memory of the host, before and at most', value: `${before} and ${most} MB` },
    felt('… a visitor meanwhile', during, alone),
  ]
}

function felt(what: string, during: readonly number[], alone: readonly number[]): Figure {
  const of = (all: readonly number[]) =>
    `median ${Math.round(median(all))}, p95 ${Math.round(percentile(all, 0.95))} ms`
  const ratio = (median(during) / median(alone)).toFixed(2)
  return { what, value: of(during), yardstick: `${of(alone)} (nothing else)`, ratio }
}

async function done(stead: Stead, method: string, path: string, body: object): Promise<void> {
  const { headers, body: answer } = await stead.api(method, path, body)
  if (answer.errors) throw new Error(answer.errors.join(' '))
  const { state, error } = await stead.ended(headers.get('operation-id') as string, 600_000)
  if (state !== 'succeeded') throw new Error(`${method} ${path}: ${error}`)
}

/** Milliseconds of pages that bypass caches, requested one after the other until `end`. */
async function visits(stead: Stead, end: Promise<unknown>): Promise<number[]> {
  let isOver = false
  const over = end.finally(() => {
    isOver = true
  })
  const took: number[] = []
  for (let number = 0; !isOver; number++) {
    const began = performance.now()
    await stead.visit('visited', `/?${number}`, { headers: { cookie: `wordpress_logged_in_x=${number}` } })
    took.push(performance.now() - began)
  }
  await over
  return took
}

const named = (n: number) => ({ id: 100_000 + n, name: `copy-${n}`, display_name: `copy-${n}` })

/**
 * Copies the one site as often as needed. Creating each would take a quarter of an hour. Themes are links: nothing here
 * touches these 9 MB of a site directory.
 */
async function multiply(stead: Stead): Promise<void> {
  const directory = stead.directoryOf('visited')
  const number = Number(/\d+$/.exec(directory)?.[0])
  const { uid } = statSync(join(directory, 'web'))
  await stead.stop()
  const copy = [
    `for n in $(seq 1 ${SITES - 1}); do home="$2/h$((100000 + n))" uid=$((${uid} + 100000 + n - ${number}))`,
    'cp -al "$1" "$home"',
    'for own in private web/wp-content/mu-plugins home.json; do rm -r "$home/$own"; cp -a "$1/$own" "$home/$own"; done',
    'find "$home" -mindepth 1 "(" -type d -o -path "$home/private/*" -o -path "*/mu-plugins/*" ")" -exec chown -h "$uid:$uid" {} +',
    'chgrp "$uid" "$home"; done',
  ]
  await promisify(execFile)('bash', ['-e', '-c', copy.join('\n'), 'copy', directory, join(directory, '..')])
  const mark = JSON.parse(readFileSync(join(directory, 'home.json'), 'utf8')) as object
  for (let n = 1; n < SITES; n++) {
    const own = { ...mark, home: 100_000 + n, site: { id: 100_000 + n, name: `copy-${n}` } }
    writeFileSync(join(directory, `../h${100_000 + n}/home.json`), JSON.stringify(own))
  }
  const database = new DatabaseSync(join(stead.dataDir, 'stead.db'))
  database.exec('begin immediate')
  for (const [table, changed] of [
    ['sites', (n: number) => ({ ...named(n), written_address: `copy-${n}.localhost:${stead.edgePort}` })],
    ['site_access', (n: number) => ({ site_id: 100_000 + n, site_name: `copy-${n}` })],
    ['site_homes', (n: number) => ({ id: 100_000 + n, site_id: 100_000 + n })],
  ] as const) {
    const key = table === 'sites' ? 'name' : table === 'site_access' ? 'site_name' : 'id'
    const value = table === 'site_homes' ? number : 'visited'
    const row = database.prepare(`select * from ${table} where ${key} = ?`).get(value) as Record<string, string>
    for (let n = 1; n < SITES; n++) {
      const values = { ...row, ...changed(n) }
      const names = Object.keys(values)
      const marks = names.map(() => '?').join(', ')
      database
        .prepare(`insert into ${table} (${names.join(', ')}) values (${marks})`)
        .run(...(Object.values(values) as string[]))
    }
  }
  database.exec('commit')
  database.close()
  await stead.start()
}

const residentMb = (pid: number): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
}
