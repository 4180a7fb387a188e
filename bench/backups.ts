import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Stead, startStead } from '../test/support/stead.ts'
import { type Figure, median, type Section } from './support/report.ts'

const run = promisify(execFile)

/** For quick runs: `BENCH_SHARE=0.1` is a tenth of it. */
const SHARE = Number(process.env.BENCH_SHARE ?? 1)
const FOLDERS = 200 * SHARE
const FILES = 100 * FOLDERS
const BYTES = 50_000 * FILES
/** The share of the files that changes every night in the runs with changes. */
const CHANGED = FILES / 100
const VISITS = 40
const SITE = 'bench-backups'
const COPY = 'bench-clone'

/** The cost of a site's backup beside restic and tar, its effect on visitors, and the restore. */
export async function backupsBench(): Promise<Section> {
  const stead = await startStead({ env: { STEAD_SITE_DISK_MB: '10240', STEAD_PHP_NICE: '10' } })
  const scratch = await mkdtemp(join(tmpdir(), 'stead-bench-'))
  try {
    const id = await stead.createSite({ name: SITE })
    const web = join(stead.directoryOf(SITE), 'web')
    await fillUploads(web)
    const bench: Bench = { stead, id, web, scratch }
    const figures = [
      ...(await backups(bench)),
      ...(await restores(bench)),
      ...(await clones(bench)),
      ...(await visitors(bench)),
    ]
    return {
      title: 'Backups of a site of 1 GB',
      how: `A site has ${FILES} files in ${FOLDERS} folders of its uploads, ${BYTES / 1e9} GB in total, half of it random and half text. \`POST /v1/sites/{id}/ondemand-backups\` (files) writes the backup, reads it back whole, and checks it. The first backup also contains the files of WordPress, which Stead stores once for all sites. restic backs up the same files to a repository of its own and reads nothing back. Compare the whole with \`restic check --read-data\`. Processor time is that of all processes of Stead. The visitor requests one uncached page after the other, with and without the first backup of a copy of the site. ${CHANGED} files change before the runs with changes. A restore first takes an undo point, and shows the front page before it ends.`,
      figures,
    }
  } finally {
    await stead.remove()
    await rm(scratch, { recursive: true, force: true })
  }
}

interface Bench {
  readonly stead: Stead
  readonly id: number
  readonly web: string
  readonly scratch: string
}

interface Cost {
  readonly seconds: number
  readonly cpuSeconds: number
}

async function backups(bench: Bench): Promise<Figure[]> {
  const { stead, web, scratch } = bench
  const store = join(stead.dataDir, 'backups')
  const first = await cost(stead, () => backUp(bench))
  const firstSpace = await spaceOf(store)
  const second = await cost(stead, () => backUp(bench))
  const secondSpace = await spaceOf(store)

  const repository = join(scratch, 'restic')
  const restic = (...words: string[]) =>
    timed('restic', ['-q', '-r', repository, ...words], { RESTIC_PASSWORD: 'bench' })
  await restic('init')
  const all = [web, ...(await releaseOf(stead))]
  const resticFirst = await restic('backup', ...all)
  const resticSpace = await spaceOf(repository)
  const resticSecond = await restic('backup', ...all)
  const resticSecondSpace = await spaceOf(repository)
  const resticCheck = await restic('check', '--read-data')
  // A tenth of the folders: bzip2 needs a quarter of an hour for all.
  const tenth = Array.from({ length: FOLDERS / 10 }, (_, folder) => `f${folder}`)
  const tar = await timed('tar', [
    '-cjf',
    join(scratch, 'site.tar.bz2'),
    '-C',
    join(web, 'wp-content/uploads'),
    ...tenth,
  ])

  await change(web)
  const changed = await cost(stead, () => backUp(bench))
  const changedSpace = (await spaceOf(store)) - secondSpace
  const resticChanged = await restic('backup', ...all)
  const resticChangedSpace = (await spaceOf(repository)) - resticSecondSpace
  return [
    {
      what: 'first backup, read back',
      value: describeCost(first),
      yardstick: `restic ${describeCost(resticFirst)}, with check ${describeCost(sum(resticFirst, resticCheck))}; tar -cj of a tenth ${describeCost(tar)}`,
      ratio: `${(first.seconds / resticFirst.seconds).toFixed(2)}; ${(first.seconds / sum(resticFirst, resticCheck).seconds).toFixed(2)}`,
      aim: '1',
    },
    { what: '… its size', value: inMb(firstSpace), yardstick: `restic ${inMb(resticSpace)}` },
    {
      what: 'backup of the unchanged site',
      value: describeCost(second),
      yardstick: `restic ${describeCost(resticSecond)}`,
      ratio: `${percent(second.seconds / first.seconds)} of the first`,
      aim: '2 %',
    },
    {
      what: '… its size',
      value: inMb(secondSpace - firstSpace),
      yardstick: `restic ${inMb(resticSecondSpace - resticSpace)}`,
      ratio: `${percent((secondSpace - firstSpace) / firstSpace)} of the first`,
      aim: '0.1 %',
    },
    {
      what: `backup with ${CHANGED} changed files`,
      value: `${describeCost(changed)}, ${inMb(changedSpace)}`,
      yardstick: `restic ${describeCost(resticChanged)}, ${inMb(resticChangedSpace)}`,
    },
  ]
}

/** The additional files of a first backup, once for all sites: those of WordPress, which they share. */
async function releaseOf({ dataDir }: Stead): Promise<string[]> {
  const cores = await readdir(join(dataDir, 'cores'), { withFileTypes: true })
  const [core] = cores.filter((entry) => entry.isDirectory()).map(({ name }) => join(dataDir, 'cores', name))
  if (!core) throw new Error('there is no release of WordPress')
  return [join(core, 'wp-admin'), join(core, 'wp-includes')]
}

/** Visits to one site during the first backup of another. */
async function visitors(bench: Bench): Promise<Figure[]> {
  const copy = { ...bench, id: await siteIdOf(bench.stead, COPY) }
  const quiet = await visits(bench)
  const work = backUp(copy)
  const during = await visitsUntil(bench, work)
  await work
  return [
    {
      what: 'a visitor’s page during a first backup, median',
      value: `${median(during).toFixed(0)} ms`,
      yardstick: `${median(quiet).toFixed(0)} ms without`,
      ratio: (median(during) / median(quiet)).toFixed(2),
      aim: '1.3',
    },
  ]
}

async function siteIdOf(stead: Stead, name: string): Promise<number> {
  const { body } = await stead.api('GET', '/v1/sites')
  return (body.data as { id: number; name: string }[]).find((site) => site.name === name)?.id as number
}

async function restores(bench: Bench): Promise<Figure[]> {
  const { stead, id, web, scratch } = bench
  const { body } = await stead.api('GET', `/v1/sites/${id}/backups/fs`)
  const newest = Number((body.data as { id: string }[])[0]?.id)
  const restore = () => operationOf(stead, 'POST', `/v1/sites/${id}/restores`, { filesystem_id: newest })
  await change(web)
  const small = await cost(stead, restore)
  await rm(join(web, 'wp-content/uploads'), { recursive: true })
  const whole = await cost(stead, restore)
  const repository = join(scratch, 'restic')
  const target = join(scratch, 'restored')
  const words = ['-q', '-r', repository, 'restore', 'latest', '--target', target]
  const restic = await timed('restic', words, { RESTIC_PASSWORD: 'bench' })
  await rm(target, { recursive: true, force: true })
  return [
    { what: `restore of ${CHANGED} changed files`, value: describeCost(small) },
    {
      what: 'restore of all uploads',
      value: `${describeCost(whole)}, ${perSecond(whole)}`,
      yardstick: `restic ${describeCost(restic)}, ${perSecond(restic)}`,
      ratio: (whole.seconds / restic.seconds).toFixed(2),
    },
  ]
}

async function clones({ stead, id, web, scratch }: Bench): Promise<Figure[]> {
  const clone = await cost(stead, () => operationOf(stead, 'POST', `/v1/sites/${id}/clone`, { name: COPY }))
  const copy = await timed('cp', ['-a', web, join(scratch, 'copy')])
  return [
    {
      what: 'clone, until it answers',
      value: describeCost(clone),
      yardstick: `cp -a ${describeCost(copy)}`,
      ratio: (clone.seconds / copy.seconds).toFixed(2),
    },
  ]
}

/** Backs the files up once more. Deletes an earlier backup to make room. */
async function backUp({ stead, id }: Bench): Promise<void> {
  const { body } = await stead.api('GET', `/v1/sites/${id}/ondemand-backups`)
  const oldest = (body.data as { id: string; type: string; requested: number }[])
    .filter(({ type }) => type === 'fs')
    .toSorted((a, b) => a.requested - b.requested)
  if (oldest.length >= 3) await operationOf(stead, 'DELETE', `/v1/sites/${id}/ondemand-backups/${oldest[0]?.id}`)
  await operationOf(stead, 'POST', `/v1/sites/${id}/ondemand-backups`, { backup_type: 'fs' })
}

async function operationOf(stead: Stead, method: string, path: string, body?: object): Promise<void> {
  const { status, headers, body: answer } = await stead.api(method, path, body)
  const operation = headers.get('operation-id')
  if (status >= 300 || operation === null) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
  const { state, error } = await stead.ended(operation, 1_200_000)
  if (state !== 'succeeded') throw new Error(`${method} ${path}: ${state}, ${error}`)
}

/** Half of each file is random, half is text, like pictures and their descriptions. */
async function fillUploads(web: string): Promise<void> {
  const { uid } = await import('node:fs/promises').then(({ stat }) => stat(web))
  const uploads = join(web, 'wp-content/uploads')
  await mkdir(uploads, { recursive: true })
  const text = Buffer.from('the quick brown fox jumps over the lazy dog '.repeat(1000))
  for (let folder = 0; folder < FOLDERS; folder++) {
    await mkdir(join(uploads, `f${folder}`))
    for (let file = 0; file < FILES / FOLDERS; file++) {
      // Most files are small, and most bytes are in the large ones.
      const bytes = Math.round(((file + 1) / (FILES / FOLDERS)) ** 3 * 4 * (BYTES / FILES))
      const content = Buffer.concat([
        randomBytes(Math.ceil(bytes / 2)),
        text.subarray(0, Math.floor(bytes / 2) % text.length),
      ])
      await writeFile(
        join(uploads, `f${folder}/${file}.dat`),
        Buffer.concat([content, randomBytes(Math.max(0, bytes - content.length))]),
      )
    }
  }
  await run('chown', ['-R', `${uid}:${uid}`, uploads]).catch(() => chown(uploads, uid, uid))
}

async function change(web: string): Promise<void> {
  for (let n = 0; n < CHANGED; n++) {
    const path = join(web, `wp-content/uploads/f${n % FOLDERS}/${60 + Math.floor(n / FOLDERS)}.dat`)
    const content = await readFile(path)
    content.fill(randomBytes(100), 0, 100)
    await writeFile(path, content)
  }
}

async function visits(bench: Bench): Promise<number[]> {
  const took: number[] = []
  for (let n = 0; n < VISITS; n++) took.push(await visit(bench))
  return took
}

async function visitsUntil(bench: Bench, work: Promise<unknown>): Promise<number[]> {
  let isDone = false
  work
    .finally(() => {
      isDone = true
    })
    .catch(() => {})
  const took: number[] = []
  while (!isDone) took.push(await visit(bench))
  return took
}

/** Requests a page that bypasses caches. */
async function visit({ stead }: Bench): Promise<number> {
  const began = performance.now()
  const { status } = await stead.visit(SITE, `/?n=${Math.random()}`, { headers: { cookie: 'wordpress_logged_in_x=1' } })
  if (status !== 200) throw new Error(`the page was answered with ${status}`)
  const took = performance.now() - began
  await pause(50)
  return took
}

async function cost(stead: Stead, work: () => Promise<void>): Promise<Cost> {
  const cpuBefore = await cpuSeconds(stead)
  const began = performance.now()
  await work()
  return { seconds: (performance.now() - began) / 1000, cpuSeconds: (await cpuSeconds(stead)) - cpuBefore }
}

/** Counts all processes that run for it, and their ended children. */
async function cpuSeconds(stead: Stead): Promise<number> {
  let ticks = 0
  for (const { pid } of stead.processes()) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    for (const field of [11, 12, 13, 14]) ticks += Number(fields[field] ?? 0)
  }
  return ticks / 100
}

/** Measures time and processor time of a program. */
async function timed(command: string, words: readonly string[], env: Record<string, string> = {}): Promise<Cost> {
  const child = spawn('bash', ['-c', 'TIMEFORMAT="%R %U %S"; time "$0" "$@" >/dev/null', command, ...words], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  for await (const piece of child.stderr) said += piece
  const [seconds = 0, user = 0, system = 0] = (said.trim().split('\n').at(-1) ?? '').split(' ').map(Number)
  if (!(seconds >= 0) || (child.exitCode ?? 0) !== 0) throw new Error(`${command}: ${said}`)
  return { seconds, cpuSeconds: user + system }
}

async function spaceOf(folder: string): Promise<number> {
  const { stdout } = await run('du', ['-sb', folder])
  return Number(stdout.split('\t')[0])
}

const sum = (one: Cost, other: Cost): Cost => ({
  seconds: one.seconds + other.seconds,
  cpuSeconds: one.cpuSeconds + other.cpuSeconds,
})
const describeCost = ({ seconds, cpuSeconds }: Cost): string =>
  `${seconds.toFixed(1)} s (${cpuSeconds.toFixed(1)} s CPU)`
const inMb = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`
const percent = (share: number): string => `${(share * 100).toFixed(share < 0.01 ? 2 : 1)} %`
const perSecond = ({ seconds }: Cost): string => `${(BYTES / 1e6 / seconds).toFixed(0)} MB/s`
