/** Where a test run has its files and its PostgreSQL: in memory if the machine has enough. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir, userInfo } from 'node:os'
import { basename, join } from 'node:path'
import { startPostgres } from '../support/postgres-cluster.ts'

export interface Place {
  readonly env: Readonly<Record<string, string>>
  close(): Promise<void>
}

const MEMORY = '/dev/shm'
/** Tests hold up to 3 GB of files at once, and need as much for themselves. */
const ENOUGH_BYTES = 8e9

/**
 * Prepares the folder of a run. Tests create hundreds of databases and thousands of short-lived files, and memory saves
 * most of the processor time for them. Shared downloads and builds (WordPress, templates) stay beside the folder of the
 * run.
 * @param wantsPostgres starts a server, unless TEST_POSTGRES_URL names one or the machine has none
 */
export async function openPlace(wantsPostgres: boolean): Promise<Place> {
  const parent = join(hasMemory() ? MEMORY : tmpdir(), `stead-tests-${userInfo().uid}`)
  const kept = join(parent, 'kept')
  // Other users, which the tests create, look for their folders below.
  for (const folder of [parent, kept]) mkdirSync(folder, { recursive: true, mode: 0o711 })
  removeLeft(parent)
  const folder = mkdtempSync(join(parent, `run-${process.pid}-`))
  chmodSync(folder, 0o1777)
  console.log(`Files of tests are in ${folder}`)
  process.env.TMPDIR = folder
  const postgres = wantsPostgres && !process.env.TEST_POSTGRES_URL ? await startPostgres({ isSafe: false }) : undefined
  return {
    env: {
      TMPDIR: folder,
      TEST_KEPT_DIR: kept,
      ...(postgres && { TEST_POSTGRES_URL: postgres.url }),
    },
    async close() {
      await postgres?.remove()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function hasMemory(): boolean {
  if (!existsSync(MEMORY)) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return Math.min(bavail * bsize, availableMemory()) > ENOUGH_BYTES
}

/** The memory that Linux would give, including file caches. */
function availableMemory(): number {
  const found = /^MemAvailable:\s+(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))
  return found ? Number(found[1]) * 1024 : freemem()
}

/** A killed run had no time to clean up. */
function removeLeft(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = /^run-(\d+)-/.exec(basename(name))?.[1]
    if (!pid || existsSync(`/proc/${pid}`)) continue
    unmountBelow(join(parent, name))
    rmSync(join(parent, name), { recursive: true, force: true })
  }
}

/** The small disks of a killed run are still mounted, so their folders cannot be removed. */
function unmountBelow(folder: string): void {
  if (!existsSync('/proc/self/mountinfo')) return
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  const points = mounts.map((line) => line.split(' ')[4] ?? '').filter((point) => point.startsWith(`${folder}/`))
  // The innermost first.
  for (const point of points.toReversed()) spawnSync('umount', ['--lazy', point])
}
